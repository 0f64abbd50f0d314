/** Reads a body; null if it is longer than `maxBytes`. Then its connection is closed. */
export async function readLimited(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | null> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    // Leaving the loop cancels the body.
    if (bytes > maxBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}
