import { type ClickHouse, listOf, textLiteral } from '../../clickhouse/client.ts';
import { firstIdAt, timeOfId } from '../entry-ids.ts';
import type { LogFilter } from '../log-store.ts';
import { searchOf } from '../log-terms.ts';
import { TABLE } from './table.ts';

/** Rows to read at most, so that the duration of a search does not depend on the size of the log. */
const SCAN_MAX_ROWS = 500_000;
/** Fewer rows are not worth another query. At least this many are read, however long that takes. */
const PART_MIN_ROWS = SCAN_MAX_ROWS / 10;
/** No further part starts after this time. */
const SCAN_MS = 150;
/** The newest part of the log is searched first; each further part is at most this many times as long. */
const FIRST_PART_MS = 300_000;
const GROWTH = 16;
/** Other gateways' clocks may be ahead. */
const CLOCK_SKEW_MS = 3_600_000;

function codeCondition(code: string): string {
  const isFailure = `failure = ${textLiteral(code)}`;
  const number = Number(code);
  return Number.isSafeInteger(number) ? `(${isFailure} or rpc_code = ${number})` : isFailure;
}

const equals = (column: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${column} = ${textLiteral(value)}`];

export function conditionsOf(filter: Partial<LogFilter>): string[] {
  const { key, keys, method, product, status, code, rpcCode, minMs, address, search } = filter;
  const { requestId, terms } = searchOf(search);
  return [
    ...equals('id', requestId ?? undefined),
    ...equals('key_id', key),
    ...(keys === undefined ? [] : [`key_id in ${listOf(['', ...keys].map(textLiteral))}`]),
    ...equals('method', method),
    ...equals('product', product),
    ...equals('status', status),
    ...(code === undefined ? [] : [codeCondition(code)]),
    ...(rpcCode === undefined ? [] : [`rpc_code = ${rpcCode}`]),
    ...(minMs === undefined ? [] : [`micros >= ${Math.round(minMs * 1_000)}`]),
    ...equals('address', address),
    ...terms.map((term) => `has(terms, ${textLiteral(term)})`),
  ];
}

type Scan = Readonly<{
  customerId: string;
  /** Unix milliseconds; `to` is exclusive. */
  from: number;
  to: number;
  conditions: readonly string[];
  /** Last id of the previous page. */
  before?: string | null;
}>;

/**
 * Reads a customer's rows in parts, newest first, until `read` returns false, enough rows have been read or the time is
 * up.
 * @param select - from the columns to the table; `end` follows the conditions.
 * @returns the id before which the scan could continue; null: the scan is complete.
 */
export async function scan<Row>(
  server: ClickHouse,
  { customerId, from, to, conditions, before = null }: Scan,
  [select, end]: readonly [string, string],
  read: (rows: readonly Row[]) => boolean,
): Promise<string | null> {
  const where = [`customer_id = ${textLiteral(customerId)}`, ...conditions];
  if (before !== null) where.push(`id < ${textLiteral(before)}`);
  const newest = Math.min(to, Date.now() + CLOCK_SKEW_MS, before === null ? to : timeOfId(before) + 1);
  let partMs = FIRST_PART_MS;
  let remaining = SCAN_MAX_ROWS;
  const startedAt = performance.now();
  for (let partEnd = newest; partEnd > from; ) {
    const start = Math.max(from, partEnd - partMs);
    const range = [`at >= ${start}`, `at < ${partEnd}`];
    const all = [where[0], ...range, ...where.slice(1)].join(' and ');
    const partAt = performance.now();
    const { rows, rowsRead } = await server.query<Row>(`${select} from ${TABLE} where ${all} ${end}`);
    if (!read(rows)) return null;
    remaining -= rowsRead;
    const now = performance.now();
    const left = SCAN_MS - (now - startedAt);
    const isTimeUp = left <= 0 && SCAN_MAX_ROWS - remaining >= PART_MIN_ROWS;
    if (remaining < PART_MIN_ROWS || isTimeUp) return start > from ? firstIdAt(start) : null;
    const length = partEnd - start;
    const affordable = Math.max(PART_MIN_ROWS, (rowsRead * left) / (now - partAt));
    // The next part is unlikely to exceed the rows and the time that remain.
    partMs = Math.ceil(length * Math.min(GROWTH, Math.min(remaining, affordable) / Math.max(1, rowsRead)));
    partEnd = start;
  }
  return null;
}
