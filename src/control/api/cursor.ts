import { ApiError } from './api-error.ts';

/** Where a page ended, as text for the caller: what it says is ours alone, and what comes back is checked. */
export const encodeCursor = (...parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/**
 * Reads a cursor that `cursorOf` made of parts of these types.
 * @returns null where none was given.
 * @throws ApiError 422
 */
export function decodeCursor<const Types extends readonly ('string' | 'number')[]>(
  cursor: string | undefined,
  ...types: Types
): { [I in keyof Types]: Types[I] extends 'number' ? number : string } | null {
  if (cursor === undefined) return null;
  const parts = partsOf(cursor);
  const fits = parts?.length === types.length && parts.every((part, i) => isOf(part, types[i]));
  if (fits) return parts as never;
  throw new ApiError(
    422,
    'INVALID_FIELDS',
    'the cursor is none of ours: leave it out to begin at the start',
    {
      fields: { cursor: 'none of ours' },
    },
  );
}

/** What no column could be compared with is no part of a cursor. */
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

/** A page of what was asked for with one more than its limit. */
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
