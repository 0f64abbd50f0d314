import { byLength } from '../base/text/short-bytes.ts';
import { methods } from './methods.ts';

/** The names of the table by how long they are. */
const namesByLength = byLength(Object.keys(methods).map((text) => ({ text, name: Buffer.from(text) })));

/** From the end, because most begin alike. */
function matchesFromEnd(body: Buffer, start: number, name: Buffer): boolean {
  for (let i = name.length - 1; i >= 0; i--) if (body[start + i] !== name[i]) return false;
  return true;
}

/**
 * The method of the table whose name stands there: always the same text, so that no new one is made with each call, and
 * all who look something up by it find it at once.
 * @returns null for any other.
 */
export function methodNameAt(body: Buffer, start: number, end: number): string | null {
  const names = namesByLength[end - start];
  if (names === undefined) return null;
  for (const { text, name } of names) if (matchesFromEnd(body, start, name)) return text;
  return null;
}
