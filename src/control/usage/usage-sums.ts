import type { UsageCounters } from '../database/tables/usage.ts';
import { addLatency, latencySum, latencyText } from './latency-text.ts';

type Sum = { -readonly [Name in Exclude<keyof UsageCounters, 'latency'>]: number } & {
  latency: Float64Array;
};

/** Adds up rows of usage that have the same names. The order of the rows makes no difference. */
export class UsageSums<Names extends object> {
  readonly #sums = new Map<string, { names: Names; sum: Sum; lastMinute: number }>();

  /** @param lastMinute - the last Unix minute in which any of it was counted. */
  add(names: Names, counters: UsageCounters, lastMinute: number): void {
    const groupKey = Object.values(names).join('\n');
    let entry = this.#sums.get(groupKey);
    if (entry === undefined) {
      entry = { names, sum: zero(), lastMinute };
      this.#sums.set(groupKey, entry);
    }
    const { sum } = entry;
    sum.requests += counters.requests;
    sum.bytes_in += counters.bytes_in;
    sum.bytes_out += counters.bytes_out;
    sum.credits += counters.credits;
    sum.messages += counters.messages;
    addLatency(sum.latency, counters.latency);
    if (lastMinute > entry.lastMinute) entry.lastMinute = lastMinute;
  }

  rows(): (Names & UsageCounters & { last_minute: number })[] {
    return [...this.#sums.values()].map(({ names, sum, lastMinute }) => ({
      ...names,
      ...sum,
      latency: latencyText(sum.latency),
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
  latency: latencySum(),
});
