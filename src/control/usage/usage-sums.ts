import { sql } from 'kysely';
import { BUCKET_COUNT } from '../../base/histogram.ts';
import type { UsageCounters } from '../database/tables/usage.ts';

/** All but the latency histogram. */
export const counterColumns = ['requests', 'credits', 'bytes_in', 'bytes_out', 'messages'] as const;

/** Sums of the counters under their own names. */
export const counterSums = sql.raw(
  counterColumns.map((name) => `cast(sum(${name}) as bigint) as ${name}`).join(', '),
);

export function serializeHistogram(counts: ArrayLike<number>): string {
  let text = '';
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    const count = counts[bucket] ?? 0;
    if (count > 0) text += `${text === '' ? '' : ','}${bucket}:${count}`;
  }
  return text;
}

/** Float64, because sums over many minutes exceed 32 bits. */
export const emptyLatencyHistogram = (): Float64Array => new Float64Array(BUCKET_COUNT);

/** Adds a stored histogram. Parses digit by digit, because it runs for every row of every chart. */
export function addLatency(target: Float64Array, text: string): void {
  let number = 0;
  let bucket = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) {
      bucket = number;
      number = 0;
    } else if (code === COMMA) {
      target[bucket] = (target[bucket] ?? 0) + number;
      number = 0;
    } else {
      number = number * 10 + code - ZERO;
    }
  }
  if (text !== '') target[bucket] = (target[bucket] ?? 0) + number;
}

const COLON = 0x3a;
const COMMA = 0x2c;
const ZERO = 0x30;

type Sum = Record<(typeof counterColumns)[number], number> & { latency: Float64Array };

/** Aggregates usage rows by their dimensions; the order of rows does not matter. */
export class UsageSums<Dimensions extends object> {
  readonly #sums = new Map<string, { dimensions: Dimensions; sum: Sum; lastMinute: number }>();

  add(dimensions: Dimensions, counters: UsageCounters, lastMinute: number): void {
    const groupKey = Object.values(dimensions).join('\n');
    let entry = this.#sums.get(groupKey);
    if (entry === undefined) {
      entry = { dimensions, sum: zero(), lastMinute };
      this.#sums.set(groupKey, entry);
    }
    const { sum } = entry;
    for (const name of counterColumns) sum[name] += counters[name];
    addLatency(sum.latency, counters.latency);
    if (lastMinute > entry.lastMinute) entry.lastMinute = lastMinute;
  }

  rows(): (Dimensions & UsageCounters & { last_minute: number })[] {
    return [...this.#sums.values()].map(({ dimensions, sum, lastMinute }) => ({
      ...dimensions,
      ...sum,
      latency: serializeHistogram(sum.latency),
      last_minute: lastMinute,
    }));
  }
}

const zero = (): Sum => ({
  requests: 0,
  bytes_in: 0,
  bytes_out: 0,
  credits: 0,
  messages: 0,
  latency: emptyLatencyHistogram(),
});
