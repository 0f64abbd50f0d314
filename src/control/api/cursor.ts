import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { invalidFields } from './api-error.ts';

type Part = string | number;

/** Returns an opaque cursor for the last item of a page. */
export const encodeCursor = (...parts: readonly Part[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

type Types = { string: string; number: number };

const invalidCursor = () =>
  invalidFields('The cursor is invalid. Leave it out to start at the first page.', { cursor: 'is invalid' });

/** Returns null if there is no cursor. @throws ApiError 422 for an invalid cursor */
export function decodeCursor<Type extends keyof Types>(cursor: string | undefined, type: Type) {
  if (cursor === undefined) return null;
  const [id, ...rest] = partsIn(cursor);
  if (rest.length > 0 || !isOf(id, type)) throw invalidCursor();
  return id as Types[Type];
}

/** Like `decodeCursor`, for the last item of a list in this order. */
export function decodeSortedCursor(cursor: string | undefined, sort: string, type: keyof Types) {
  if (cursor === undefined) return null;
  const [ofSort, value, id, ...rest] = partsIn(cursor);
  if (ofSort !== sort || !isOf(value, type) || !isOf(id, 'string') || rest.length > 0) throw invalidCursor();
  return { value: value as Part, id: id as string };
}

/** False for parts of another type and parts that the database cannot compare. */
function isOf(part: unknown, type: keyof Types): boolean {
  return type === 'number'
    ? Number.isSafeInteger(part)
    : typeof part === 'string' && !part.includes('\0') && part.isWellFormed();
}

function partsIn(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

/** Makes a page from rows. Callers read one row more than `limit`, to detect a next page. */
export function pageOfRows<Row extends Readonly<{ id: Part }>, Item>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Item,
  cursorOf: (row: Row) => string = ({ id }) => encodeCursor(id),
): { items: Item[]; next: string | null } {
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  const next = rows.length > limit && last !== undefined ? cursorOf(last) : null;
  return { items: pageRows.map(show), next };
}

/** What a list can be sorted by: an expression that is never null. */
export type SortKeys<Name extends string> = Readonly<
  Record<Name, Readonly<{ type: keyof Types; value: RawBuilder<Part> }>>
>;

export type PageQuery<Name extends string> = Readonly<{
  cursor?: string | undefined;
  limit: number;
  /** A leading `-` means descending; undefined: by id. */
  sort?: Name | `-${Name}` | undefined;
}>;

/**
 * Reads a page of rows in the order of a sort key and then of the id. The cursor holds both, so no row is skipped or
 * repeated when other rows are added or removed. It is valid only for the same order.
 * @throws ApiError 422 for an invalid cursor
 */
export async function selectPage<Row extends Readonly<{ id: string }>, Name extends string>(
  query: SelectQueryBuilder<never, never, Row>,
  { cursor, limit, sort }: PageQuery<Name>,
  keys: SortKeys<Name>,
): Promise<{ rows: Row[]; next: string | null }> {
  const id = sql.ref<string>('id');
  const isDescending = sort?.startsWith('-') === true;
  const direction = isDescending ? 'desc' : 'asc';
  const after = isDescending ? sql`<` : sql`>`;
  if (sort === undefined) {
    const last = decodeCursor(cursor, 'string');
    const rows = await query
      .$if(last !== null, (some) => some.where(sql<SqlBool>`${id} > ${last}`))
      .orderBy(id)
      .limit(limit + 1)
      .execute();
    const { items, next } = pageOfRows(rows as Row[], limit, (row) => row);
    return { rows: items, next };
  }
  const { type, value } = keys[(isDescending ? sort.slice(1) : sort) as Name];
  const last = decodeSortedCursor(cursor, sort, type);
  const rows = (await query
    .select(value.as('sort_value'))
    .$if(last !== null, (some) =>
      some.where(sql<SqlBool>`(${value}, ${id}) ${after} (${last?.value}, ${last?.id})`),
    )
    .orderBy(value, direction)
    .orderBy(id, direction)
    .limit(limit + 1)
    .execute()) as (Row & { sort_value: Part })[];
  const { items, next } = pageOfRows(
    rows,
    limit,
    (row) => row as Row,
    (row) => encodeCursor(sort, row.sort_value, row.id),
  );
  return { rows: items, next };
}

/** A search for text in any letter case. `lower` of the database is applied to both, because each knows other letters. */
export const contains = (column: RawBuilder<unknown>, text: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`lower(${column}) like lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`}) escape '\\'`;
