import { invalidFields } from './api-error.ts';

/** Returns an opaque cursor for the last item of a page. */
export const encodeCursor = (id: string | number): string =>
  Buffer.from(JSON.stringify([id])).toString('base64url');

type Ids = { string: string; number: number };

/** Returns null if there is no cursor. @throws ApiError 422 for an invalid cursor */
export function decodeCursor<Type extends keyof Ids>(cursor: string | undefined, type: Type) {
  if (cursor === undefined) return null;
  const id = idIn(cursor);
  if (isOf(id, type)) return id as Ids[Type];
  const message = 'The cursor is invalid. Leave it out to start at the first page.';
  throw invalidFields(message, { cursor: 'is invalid' });
}

/** False for ids of another type and ids that the database cannot compare. */
function isOf(id: unknown, type: keyof Ids): boolean {
  return type === 'number' ? Number.isSafeInteger(id) : typeof id === 'string' && !id.includes('\0');
}

function idIn(cursor: string): unknown {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) && parts.length === 1 ? parts[0] : null;
  } catch {
    return null;
  }
}

/** Makes a page from rows. Callers read one row more than `limit`, to detect a next page. */
export function pageOfRows<Row extends Readonly<{ id: string | number }>, Item>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Item,
): { items: Item[]; next: string | null } {
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  const next = rows.length > limit && last !== undefined ? encodeCursor(last.id) : null;
  return { items: pageRows.map(show), next };
}
