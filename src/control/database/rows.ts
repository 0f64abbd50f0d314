import type { Insertable, Kysely, Selectable, SelectQueryBuilder } from 'kysely';
import { type CamelCase, camelCase } from '../../base/camel-case.ts';
import type { Schema } from './schema.ts';

type Table = keyof Schema & string;
type Values<Name extends Table> = { readonly [Column in keyof Schema[Name]]?: Schema[Name][Column] };
/** `undefined` matches any value. */
type Match<Name extends Table> = {
  readonly [Column in keyof Schema[Name]]?: Schema[Name][Column] | undefined;
};

/** Casts, because Kysely cannot type a statement whose table is a type parameter. */
const tableOf = <Name extends Table>(db: Kysely<Schema>, name: Name) => ({
  db: db as unknown as Kysely<{ row: Schema[Name] }>,
  name: name as 'row',
});

type Filter = { where(filter: (eb: { and(match: object): unknown }) => unknown): unknown };

const matching = <Query>(query: Query, match: object): Query =>
  (query as Filter).where((eb) => eb.and(match)) as Query;

export function selectRows<Name extends Table>(db: Kysely<Schema>, table: Name, match: Match<Name>) {
  const { db: typed, name } = tableOf(db, table);
  return matching(typed.selectFrom(name).selectAll(), match) as unknown as SelectQueryBuilder<
    { row: Schema[Name] },
    'row',
    Selectable<Schema[Name]>
  >;
}

export const findRow = <Name extends Table>(db: Kysely<Schema>, table: Name, match: Values<Name>) =>
  selectRows(db, table, match).limit(1).executeTakeFirst();

export async function countRows<Name extends Table>(
  db: Kysely<Schema>,
  table: Name,
  match: Values<Name>,
): Promise<number> {
  const { db: typed, name } = tableOf(db, table);
  const query = typed.selectFrom(name).select((select) => select.fn.countAll<number>().as('count'));
  return Number((await matching(query, match).executeTakeFirstOrThrow()).count);
}

export async function insertRow<Name extends Table>(
  db: Kysely<Schema>,
  table: Name,
  row: Insertable<Schema[Name]> | readonly Insertable<Schema[Name]>[],
): Promise<void> {
  const { db: typed, name } = tableOf(db, table);
  await typed
    .insertInto(name)
    .values(row as never)
    .execute();
}

/** Sets `values` in the row with this key. If there is no such row, inserts it with `values` and `initial`. */
export async function upsertRow<Name extends Table>(
  db: Kysely<Schema>,
  table: Name,
  key: Values<Name>,
  values: Values<Name>,
  initial: Values<Name> = {},
): Promise<void> {
  const { db: typed, name } = tableOf(db, table);
  await typed
    .insertInto(name)
    .values({ ...key, ...initial, ...values } as never)
    .onConflict((conflict) => conflict.columns(Object.keys(key) as never[]).doUpdateSet(values as never))
    .execute();
}

export async function updateRows<Name extends Table>(
  db: Kysely<Schema>,
  table: Name,
  match: Values<Name>,
  values: Values<Name>,
): Promise<number> {
  const { db: typed, name } = tableOf(db, table);
  const query = typed.updateTable(name).set(values as never);
  return Number((await matching(query, match).executeTakeFirstOrThrow()).numUpdatedRows);
}

export async function deleteRows<Name extends Table>(
  db: Kysely<Schema>,
  table: Name,
  match: Values<Name>,
): Promise<number> {
  const { db: typed, name } = tableOf(db, table);
  return Number((await matching(typed.deleteFrom(name), match).executeTakeFirstOrThrow()).numDeletedRows);
}

/** Yields pages of rows until a page is not full. `read` receives the last row of the previous page. */
export async function* pagesOf<Row>(
  pageRows: number,
  read: (last: Row | null) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: Row | null = null; ; ) {
    const rows: Row[] = await read(last);
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
    last = rows.at(-1) ?? null;
  }
}

/** Names by id, of rows that exist. Ids may be null or repeated. */
export async function namesOf(
  db: Kysely<Schema>,
  table: 'api_key' | 'customer',
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string | null, string>> {
  const unique = [...new Set(ids)].filter((id) => id !== null && id !== '');
  if (unique.length === 0) return new Map();
  const rows = await db.selectFrom(table).select(['id', 'name']).where('id', 'in', unique).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns columns of a row under their camel-case names. */
export const fieldsOf = <Row extends object, Name extends keyof Row & string>(row: Row, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [camelCase(name), row[name]])) as {
    [Column in Name as CamelCase<Column>]: Row[Column];
  };
