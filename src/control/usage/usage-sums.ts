import { sql } from 'kysely';
import { BUCKET_COUNT } from '../../base/histogram.ts';
import type { UsageCounters } from '../database/tables/usage.ts';

/** All counters except the latency histogram, in the column order of a CSV export. */
export const counterColumns = ['requests', 'credits', 'bytes_in', 'bytes_out', 'messages'] as const;

/** SQL that sums each counter under its own name. */
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

/** Float64, because sums over many minutes may exceed 32 bits. */
export const emptyLatencyHistogram = (): Float64Array => new Float64Array(BUCKET_COUNT);

/** Adds a stored histogram to `target`. Parses digit by digit for speed: charts call this for every row. */
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

/** A stored histogram as parallel lists. */
export function parseHistogram(text: string): Readonly<{ buckets: number[]; counts: number[] }> {
  const pairs = text === '' ? [] : text.split(',').map((pair) => pair.split(':').map(Number));
  return { buckets: pairs.map(([bucket]) => bucket!), counts: pairs.map(([, count]) => count!) };
}

const COLON = 0x3a;
const COMMA = 0x2c;
const ZERO = 0x30;

const noCounts = { requests: 0, credits: 0, bytes_in: 0, bytes_out: 0, messages: 0 };

type Sum = typeof noCounts & { latency: Float64Array; last_minute: number };

/** Aggregates usage rows by their dimensions; the order of rows does not matter. */
export class UsageSums<Dimensions extends object> {
  readonly #groups = new Map<string, { dimensions: Dimensions; sum: Sum }>();

  add(dimensions: Dimensions, counters: UsageCounters, lastMinute = 0): void {
    const groupKey = Object.values(dimensions).join('\n');
    const { sum } = this.#groups.get(groupKey) ?? this.#addGroup(groupKey, dimensions);
    for (const name of counterColumns) sum[name] += counters[name];
    addLatency(sum.latency, counters.latency);
    sum.last_minute = Math.max(sum.last_minute, lastMinute);
  }

  #addGroup(groupKey: string, dimensions: Dimensions) {
    const group = { dimensions, sum: { ...noCounts, latency: emptyLatencyHistogram(), last_minute: 0 } };
    this.#groups.set(groupKey, group);
    return group;
  }

  rows(): (Dimensions & UsageCounters & { last_minute: number })[] {
    return [...this.#groups.values()].map(({ dimensions, sum }) => ({
      ...dimensions,
      ...sum,
      latency: serializeHistogram(sum.latency),
    }));
  }
}
