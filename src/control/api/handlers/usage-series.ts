import type { Store } from '../../database/store.ts';
import { exportUsage } from '../../usage/export-usage.ts';
import {
  type Axis,
  type GroupColumn,
  stepMs,
  type UsageQuery,
  type UsageSum,
  usageUpdatedAt,
  zeros,
} from '../../usage/read-usage.ts';
import type { UsageReader } from '../../usage/usage-reader.ts';
import { counterColumns } from '../../usage/usage-sums.ts';
import type { RouteOutput } from '../contract/contract.ts';
import type { TotalsJson } from '../contract/usage.ts';
import type { Handler } from '../handler.ts';
import { type ApiServices, usageReaderOf } from '../services.ts';
import { addAt, addTotals, keyNames, noTotals, toAxisJson, usageQueryOf } from './usage-range.ts';

const SERIES_ROUTE = 'GET /customers/{customer}/usage';
type Series = RouteOutput<typeof SERIES_ROUTE>['series'][number];

/** Series beyond this number are combined as `other`. */
const SERIES_MAX = 20;
const OTHER = 'other';

const columns = { product: 'product', key: 'key_id', method: 'method', status: 'status' } as const;
type Column = (typeof columns)[keyof typeof columns];

const noSeries = (name: string, axis: Axis): Series => ({
  name,
  label: name,
  totals: noTotals(),
  requests: zeros(axis),
  credits: zeros(axis),
  bytes: zeros(axis),
});

function addRow(series: Series, row: UsageSum<'status'>): void {
  addTotals(series.totals, row);
  addAt(series.requests, row.at, row.requests);
  addAt(series.credits, row.at, row.credits);
  addAt(series.bytes, row.at, row.bytes_in + row.bytes_out);
}

async function readWhole(usage: UsageReader, query: UsageQuery): Promise<Series> {
  const series = noSeries('all', query.axis);
  await usage.readSums(query, ['status'], (row) => addRow(series, row));
  return series;
}

/** Subtracts without going below zero: usage may be written between the reads of the total and of its parts. */
const minus = (count: number, part = 0): number => Math.max(0, count - part);

function restOf(whole: Series, parts: readonly Series[]): Series {
  const rest = { ...structuredClone(whole), name: OTHER, label: OTHER };
  for (const part of parts) {
    for (const name of Object.keys(rest.totals) as (keyof TotalsJson)[])
      rest.totals[name] = minus(rest.totals[name], part.totals[name]);
    for (const name of ['requests', 'credits', 'bytes'] as const)
      rest[name] = rest[name].map((count, at) => minus(count, part[name][at]));
  }
  return rest;
}

async function readBreakdown(
  usage: UsageReader,
  query: UsageQuery,
  column: Column,
  whole: Series,
): Promise<Series[]> {
  const { axis, filter } = query;
  const largest = await usage.readLargest(query, column, 'traffic', SERIES_MAX + 1);
  if (largest.length === 0) return [];
  // A group that is itself named "other", such as that of unknown methods, is part of the rest.
  const names = largest.flatMap(({ name }) => (name === OTHER ? [] : [name])).slice(0, SERIES_MAX);
  const series = new Map(names.map((name) => [name, noSeries(name, axis)]));
  // A customer may have very many keys, so this reads only the rows of the displayed keys.
  const narrowed = column === 'key_id' ? { ...filter, keys: names } : filter;
  const groupBy: readonly GroupColumn[] = column === 'status' ? ['status'] : [column, 'status'];
  await usage.readSums({ axis, filter: narrowed }, groupBy, (row) => {
    const one = series.get(row[column]);
    if (one !== undefined) addRow(one, row);
  });
  const largestSeries = [...series.values()];
  const isAll = names.length === largest.length;
  return isAll ? largestSeries : [...largestSeries, restOf(whole, largestSeries)];
}

async function label(store: Store, series: readonly Series[], column: Column): Promise<Series[]> {
  if (column !== 'key_id') return [...series];
  const names = await keyNames(
    store,
    series.map(({ name }) => name),
  );
  return series.map((one) => ({
    ...one,
    label: one.name === '' ? 'without a key' : (names.get(one.name) ?? one.name),
  }));
}

/** Reads usage over time, in total or by one dimension. */
export async function usageSeriesOf(
  services: Pick<ApiServices, 'store' | 'usage'>,
  usage: UsageQuery,
  by: keyof typeof columns | 'none',
  nowMs: number,
): Promise<RouteOutput<typeof SERIES_ROUTE>> {
  const { store } = services;
  const reader = usageReaderOf(services);
  const whole = await readWhole(reader, usage);
  const column = by === 'none' ? null : columns[by];
  const series =
    column === null ? [whole] : await label(store, await readBreakdown(reader, usage, column, whole), column);
  return {
    axis: toAxisJson(usage.axis),
    series,
    totals: whole.totals,
    updatedAt: await usageUpdatedAt(store, nowMs),
  };
}

export const usageSeries =
  (services: ApiServices): Handler<typeof SERIES_ROUTE> =>
  async ({ path: { customer }, query }) => {
    const at = services.now();
    return usageSeriesOf(services, await usageQueryOf(services.store, customer, query, at), query.by, at);
  };

/** Start of a spreadsheet formula, including full-width characters. Source: OWASP, "CSV Injection". */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** Characters that require quotes around a field. Source: RFC 4180. */
const SPECIAL = /[",\r\n]/;

/** Returns a CSV line without a line break. */
export const csvLine = (fields: readonly (string | number)[]): string => fields.map(fieldOf).join(',');

function fieldOf(field: string | number): string {
  if (typeof field === 'number') return String(field);
  const text = FORMULA.test(field) ? `'${field}` : field;
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const HEAD = ['time', 'key', 'key_name', 'product', 'method', 'status', ...counterColumns];

async function* linesOf(services: ApiServices, usage: UsageQuery): AsyncGenerator<string> {
  yield csvLine(HEAD);
  for await (const rows of exportUsage(services.store, usageReaderOf(services), usage)) {
    const names = await keyNames(services.store, [...new Set(rows.map(({ key_id }) => key_id))]);
    const lines = rows.map((row) =>
      csvLine([
        new Date(row.bucket * stepMs[usage.axis.step]).toISOString(),
        row.key_id,
        names.get(row.key_id) ?? '',
        row.product,
        row.method,
        row.status,
        ...counterColumns.map((name) => row[name]),
      ]),
    );
    yield lines.join('\r\n');
  }
}

/** Streams the export, so that memory use stays bounded. */
export const usageCsv =
  (services: ApiServices): Handler<'GET /customers/{customer}/usage.csv'> =>
  async ({ path: { customer }, query }) =>
    linesOf(services, await usageQueryOf(services.store, customer, query, services.now()));
