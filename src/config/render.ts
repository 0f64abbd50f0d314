import { camelCase } from '../base/camel-case.ts';
import type { Configuration } from './configuration.ts';
import { showUrl } from './errors.ts';
import { type Entry, type Option, type Rows, snakeCase } from './option.ts';
import { planRows, publicEntries } from './schema.ts';
import type { Table } from './table.ts';

const REDACTED = '[redacted]';

function showSecret({ show }: Option, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (typeof value === 'object')
    return Object.fromEntries(Object.keys(value as Table).map((name) => [name, REDACTED]));
  const text = String(value);
  if (show) return show(text);
  return text.includes('://') ? showUrl(text) : REDACTED;
}

function showOption(row: Option, value: unknown): unknown {
  const { rows } = row;
  if (rows !== undefined && value !== null)
    return Array.isArray(value)
      ? value.map((item: Table) => showRows(rows, item))
      : showRows(rows, value as Table);
  return row.secret ? showSecret(row, value) : value;
}

const showRows = (rows: Rows, values: Table): Table =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, showOption(row, values[camelCase(name)])]),
  );

const snakeNames = (values: Table): Table =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));

const programNames: Readonly<Record<string, string>> = { upstream: 'upstreams', sender: 'senders' };

function showEntry(entry: Entry, value: unknown): unknown {
  if (entry.form === 'option') return showOption(entry, value);
  if (entry.form === 'section') return showRows(entry.rows, value as Table);
  return (value as readonly Table[]).map((item) => showRows(entry.rows, item));
}

/** Options by their names in the configuration file, with secrets redacted. Fixed limits are omitted. */
export function showConfiguration(configuration: Configuration): Table {
  const shown = publicEntries.map(([name, entry]) => {
    const key = programNames[name] ?? camelCase(name);
    return [name, showEntry(entry, configuration[key as keyof Configuration])];
  });
  const plans = configuration.plans.map(({ id, name, limits, price }) => [
    id,
    showRows(planRows, { name, ...limits, billing: price ? snakeNames(price) : null }),
  ]);
  return { ...Object.fromEntries(shown), plans: Object.fromEntries(plans), file: configuration.file };
}
