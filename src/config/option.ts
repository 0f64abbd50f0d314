import type { z } from 'zod';
import { type CamelCase, camelCase } from '../base/camel-case.ts';
import { isTable } from './table.ts';

/** Builders for the rows of the configuration schema, and the types derived from the rows. */

export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type Details = Readonly<{
  /** Shown in the first part of the example file. */
  common?: boolean;
  /** Whether a reload applies changes. If not, they require a restart. */
  reload?: boolean;
  /** Redacted when shown; may be written as `env:NAME` or `file:PATH`. */
  secret?: boolean;
  /** Formats a secret for display, without its secret parts. */
  show?: (value: string) => string;
  env?: string;
  /** Command-line option, without its dashes; overrides the file and the environment. */
  flag?: string;
  /** TOML value shown in the documentation of an option without a default. */
  example?: string;
  /** Rows of the nested table or list of tables. */
  rows?: Rows;
}>;

/** One option. `Value` is the type that the program reads. */
export type Option<Value = unknown> = Details &
  Readonly<{
    form: 'option';
    /** Validates a value if it is present. The description of `kind` is the type shown in the documentation. */
    kind: z.ZodType;
    /** `undefined`: the option is required, or its default depends on other options. */
    default: unknown;
    isRequired: boolean;
    doc: string;
    /** Never set; only carries the type. */
    value?: Value;
  }>;

/** An option whose default is a limit of its section. */
type Limit<Value = unknown> = Option<Value> & Readonly<{ isLimit: true }>;

// biome-ignore lint/suspicious/noExplicitAny: rows have values of different types.
export type Rows = Readonly<Record<string, Option<any>>>;

type ValueOf<Row> = Row extends Option<infer Value> ? Value : never;

export type ValuesOf<Table extends Rows> = {
  readonly [Key in keyof Table & string as CamelCase<Key>]: ValueOf<Table[Key]>;
};

type Widened<Value> = Value extends number ? number : Value extends boolean ? boolean : Value;

/** A `[name]` table: options for operators, and limits of modules. Only [internal] sets limits that have no option. */
export type Section<Table extends Rows = Rows, Limits extends object = object> = Readonly<{
  form: 'section';
  doc: string;
  rows: Table;
  limits: Limits;
}>;

/** A list of `[[name]]` tables. */
export type Tables<Table extends Rows = Rows> = Readonly<{
  form: 'tables';
  doc: string;
  rows: Table;
  max: number;
  /** Noun for one table in error messages. */
  item: string;
  reload: boolean;
}>;

export type Entry = Option | Section | Tables;

type EntryValue<Value> =
  Value extends Option<infer Single>
    ? Single
    : Value extends Section<infer Table, infer Limits>
      ? ValuesOf<Table> & { readonly [Name in keyof Limits]: Widened<Limits[Name]> }
      : Value extends Tables<infer Table>
        ? readonly ValuesOf<Table>[]
        : never;

export type EntryValues<Entries> = {
  readonly [Key in keyof Entries & string as CamelCase<Key>]: EntryValue<Entries[Key]>;
};

const optionRow = (kind: z.ZodType, doc: string, details: Details) =>
  ({ form: 'option', kind, default: undefined, isRequired: false, doc, ...details }) as const;

/** @param fallback - the default value; null: none. */
export const option = <Value, Fallback extends Value | null>(
  kind: z.ZodType<Value>,
  fallback: Fallback,
  doc: string,
  details: Details = {},
): Option<Fallback extends null ? Value | null : Value> => ({
  ...optionRow(kind, doc, details),
  default: fallback,
});

export const required = <Value>(
  kind: z.ZodType<Value>,
  doc: string,
  details: Details = {},
): Option<Value> => ({ ...optionRow(kind, doc, details), isRequired: true });

/** An option whose default depends on other options. */
export const optional = <Value>(
  kind: z.ZodType<Value>,
  doc: string,
  details: Details = {},
): Option<Value | undefined> => optionRow(kind, doc, details);

/** An option whose default is the limit of the same name in its section. */
export const limit = <Value>(kind: z.ZodType<Value>, doc: string, details: Details = {}): Limit<Value> => ({
  ...optionRow(kind, doc, details),
  isLimit: true,
});

/** Limits that supply the defaults of the `limit` rows of a table. */
type DefaultsOf<Table extends Rows> = {
  readonly [Key in keyof Table & string as Table[Key] extends Limit ? CamelCase<Key> : never]: unknown;
};

/** Gives the `limit` rows of a table their defaults. */
export function withDefaultsOf<Table extends Rows>(rows: Table, limits: DefaultsOf<Table>): Table {
  const completed = Object.entries(rows).map(([name, row]) => {
    const fallback = (limits as Readonly<Record<string, unknown>>)[camelCase(name)];
    return [name, 'isLimit' in row ? { ...row, default: fallback } : row];
  });
  return Object.fromEntries(completed) as Table;
}

export const section = <Table extends Rows, Limits extends object>(
  doc: string,
  rows: Table,
  limits: Limits & DefaultsOf<Table>,
): Section<Table, Limits> => ({ form: 'section', doc, rows: withDefaultsOf(rows, limits), limits });

export const tables = <Table extends Rows>(
  doc: string,
  rows: Table,
  { max, item, reload = false }: Readonly<{ max: number; item: string; reload?: boolean }>,
): Tables<Table> => ({ form: 'tables', doc, rows, max, item, reload });

/** Copies the named members. Values copied from a live section do not change on a reload. */
export const pick = <Source, const Name extends keyof Source>(
  source: Source,
  names: readonly Name[],
): Pick<Source, Name> =>
  Object.fromEntries(names.map((name) => [name, source[name]])) as unknown as Pick<Source, Name>;

export const omit = <Source extends object, const Name extends keyof Source>(
  source: Source,
  names: readonly Name[],
): Omit<Source, Name> =>
  Object.fromEntries(
    Object.entries(source).filter(([name]) => !names.includes(name as Name)),
  ) as unknown as Omit<Source, Name>;

/** Tables whose member names are chosen by the user. These names are not converted. */
const VERBATIM: ReadonlySet<string> = new Set(['headers', 'prices']);

export function camelNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelNames);
  if (!isTable(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    camelCase(name),
    VERBATIM.has(name) ? member : camelNames(member),
  ]);
  return Object.fromEntries(members);
}

export function schemaOf(row: Option): z.ZodType {
  if (row.isRequired) return row.kind;
  if (row.default === undefined) return row.kind.optional();
  if (row.default === null) return row.kind.nullable().default(null);
  return row.kind.default(row.default);
}
