/** Parses a body as JSON. @throws Error if it has more than `maxBytes`, or is not JSON */
export async function boundedJson(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new Error(`the document exceeds ${maxBytes / 1_024} KiB`);
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString());
}
