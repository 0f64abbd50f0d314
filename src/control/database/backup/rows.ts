import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import type { BackupTable } from './tables.ts';

/** A row as both databases give it: integers and text. */
export type Row = Readonly<Record<string, string | number | null>>;

/** Rows read or written at once. */
const PAGE_ROWS = 1_000;

/** Values of one statement; SQLite takes 32,766 and PostgreSQL 65,535. */
const VALUES_MAX = 30_000;

/** The rows of a table in pages, in the order of its key. */
export async function* readRows(
  db: Kysely<Schema>,
  { name, key }: BackupTable,
): AsyncGenerator<readonly Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let last: Row | null = null;
  for (;;) {
    const behind: ReturnType<typeof sql> =
      last === null ? sql`` : sql`where (${columns}) > (${sql.join(key.map((column) => last![column]))})`;
    const { rows }: { rows: Row[] } = await sql<Row>`select * from ${sql.table(name)} ${behind}
      order by ${columns} limit ${sql.lit(PAGE_ROWS)}`.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    last = rows.at(-1)!;
  }
}

/** Puts rows into a table. All of them have the same columns. */
export async function writeRows(db: Kysely<Schema>, table: string, rows: readonly Row[]): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const names = Object.keys(first);
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const atOnce = Math.max(1, Math.floor(VALUES_MAX / names.length));
  for (let from = 0; from < rows.length; from += atOnce) {
    const values = rows
      .slice(from, from + atOnce)
      .map((row) => sql`(${sql.join(names.map((name) => row[name] ?? null))})`);
    await sql`insert into ${sql.table(table)} (${columns}) values ${sql.join(values)}`.execute(db);
  }
}

/** Where the sum of a digest begins anew: 2^256. */
const MODULUS = 1n << 256n;

/** What the rows of a table come to, in whatever order they were read: databases sort text differently. */
export class RowDigest {
  rows = 0;
  #sum = 0n;

  add(row: Row): void {
    const members = Object.keys(row)
      .sort()
      .map((name) => [name, row[name]]);
    const hash = createHash('sha256').update(JSON.stringify(members)).digest('hex');
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) % MODULUS;
    this.rows++;
  }

  /** 64 hexadecimal digits. */
  get hex(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}
