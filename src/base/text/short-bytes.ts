/** Loops over a few bytes: of so few, a native comparison or copy costs more than they do. */

/** Beyond so many bytes a native copy is the cheaper one. */
const LOOP_MAX_BYTES = 24;

/** Whether these bytes stand there. @param end - nothing behind it is looked at. */
export function matchesAt(bytes: Buffer, start: number, text: Buffer, end = bytes.length): boolean {
  if (end - start < text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}

/**
 * Whether a word stands there and nothing else, in letters of any case. For bytes of a field's name or value only: of
 * those, the bit that makes letters small makes nothing else a letter, and nothing a hyphen.
 * @param word - of small letters, digits and hyphens.
 */
export function isToken(bytes: Buffer, start: number, end: number, token: Buffer): boolean {
  if (end - start !== token.length) return false;
  for (let i = 0; i < token.length; i++) if (((bytes[start + i] as number) | 0x20) !== token[i]) return false;
  return true;
}

/** Copies a piece to where there is room for it. @returns where it ends. */
export function copyTo(bytes: Buffer, start: number, piece: Buffer): number {
  if (piece.length > LOOP_MAX_BYTES) bytes.set(piece, start);
  else for (let i = 0; i < piece.length; i++) bytes[start + i] = piece[i] as number;
  return start + piece.length;
}

/** A table of bytes, with 1 for each that is one of those meant. */
export function byteTable(isOne: (text: string, byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isOne(String.fromCharCode(byte), byte) ? 1 : 0));
}

/** The first place from there on whose byte is not in the table; `end` when all are. */
export function skipWhile(bytes: Buffer, start: number, end: number, table: Uint8Array): number {
  let at = start;
  while (at < end && table[bytes[at] as number] === 1) at++;
  return at;
}

/** What is known by names, by how long those are: few have the same length. */
export function byLength<Item extends Readonly<{ name: Buffer }>>(
  items: readonly Item[],
): readonly (readonly Item[] | undefined)[] {
  const lists: Item[][] = [];
  for (const item of items) {
    const { length } = item.name;
    lists[length] ??= [];
    lists[length]?.push(item);
  }
  return lists;
}
