/** Bytes as text of one character each (latin1), so that maps and sets can have them as keys; ASCII stays what it is. */
export const bytesKey = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
