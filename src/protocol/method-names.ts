import { methods } from './methods.ts';

type Name = Readonly<{ text: string; bytes: Buffer }>;

/** The names of the table by how long they are. */
const namesByLength: readonly (readonly Name[] | undefined)[] = byLength(Object.keys(methods));

function byLength(texts: readonly string[]): Name[][] {
  const names: Name[][] = [];
  for (const text of texts) {
    names[text.length] ??= [];
    names[text.length]?.push({ text, bytes: Buffer.from(text) });
  }
  return names;
}

/** From the end, because most begin alike. */
function stands(body: Buffer, start: number, bytes: Buffer): boolean {
  for (let i = bytes.length - 1; i >= 0; i--) if (body[start + i] !== bytes[i]) return false;
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
  for (const { text, bytes } of names) if (stands(body, start, bytes)) return text;
  return null;
}
