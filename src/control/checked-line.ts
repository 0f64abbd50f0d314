import { crc32 } from 'node:zlib';

/** Returns a line of a journal: CRC-32 of the JSON text as 8 hex digits, a space, the JSON text, a line feed. */
export function checkedLine(value: unknown): string {
  const text = JSON.stringify(value);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

/** @param line - without its line feed. @returns undefined for a corrupt line. */
export function readCheckedLine(line: string): unknown {
  const text = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== crc32(text).toString(16).padStart(8, '0')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
