import { invalidFields } from './api-error.ts';

/** Opaque position of the last item of a page. */
export const encodeCursor = (...parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/** null without a cursor. @throws ApiError 422 */
export function decodeCursor<const Types extends readonly ('string' | 'number')[]>(
  cursor: string | undefined,
  ...types: Types
): { [I in keyof Types]: Types[I] extends 'number' ? number : string } | null {
  if (cursor === undefined) return null;
  const parts = partsOf(cursor);
  const fits = parts?.length === types.length && parts.every((part, i) => isOf(part, types[i]));
  if (fits) return parts as never;
  const message = 'The cursor is invalid. Leave it out to start at the first page.';
  throw invalidFields(message, { cursor: 'is invalid' });
}

/** Rejects values that the database cannot compare. */
function isOf(part: unknown, type: 'string' | 'number' | undefined): boolean {
  return type === 'number' ? Number.isSafeInteger(part) : typeof part === 'string' && !part.includes('\0');
}

function partsOf(cursor: string): unknown[] | null {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : null;
  } catch {
    return null;
  }
}

/** Cuts a page from rows read with one more than the limit. */
export function pageOfRows<Row, Item>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Item,
  cursor: (last: Row) => string,
): { items: Item[]; next: string | null } {
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  return { items: pageRows.map(show), next: rows.length > limit && last !== undefined ? cursor(last) : null };
}
