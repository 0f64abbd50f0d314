import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../nodes/seeded-random.ts';
import type { Reply, TestClient } from './clients.ts';
import type { FaultChecker } from './fault-checker.ts';
import type { ReadCall, ReadCalls } from './read-calls.ts';

/** Share of batches, and their maximum size. */
const BATCH_SHARE = 0.08;
const BATCH_CALLS_MAX = 12;
/** Requests in flight; further ones are skipped to limit memory during outages. */
const IN_FLIGHT_MAX = 400;

export type ReadsOptions = Readonly<{
  client: TestClient;
  readCalls: ReadCalls;
  checker: FaultChecker;
  random: SeededRandom;
  perSecond: number;
}>;

/** Fault of a reply; null for a right one. */
export const faultOf = (call: ReadCall, reply: Reply): string | null =>
  reply.kind === 'result' ? call.check(reply.result) : reply.text;

/** Sends reads over one protocol at a constant rate, independent of latency. */
export class Reads {
  /** Skipped requests: too many in flight. */
  skipped = 0;
  readonly #options: ReadsOptions;
  #inFlight = 0;

  constructor(options: ReadsOptions) {
    this.#options = options;
  }

  /** Runs until `isOver` and all replies have arrived. */
  async run(isOver: () => boolean): Promise<void> {
    const { perSecond } = this.#options;
    for (let next = performance.now(); !isOver(); next += 1_000 / perSecond) {
      await delay(Math.max(0, next - performance.now()));
      if (this.#inFlight < IN_FLIGHT_MAX) void this.#send();
      else this.skipped++;
    }
    while (this.#inFlight > 0) await delay(50);
  }

  #next(): ReadCall[] {
    const { random, readCalls } = this.#options;
    if (!random.happens(BATCH_SHARE)) return [readCalls.next(random)];
    const count = Math.round(random.between(2, BATCH_CALLS_MAX));
    return Array.from({ length: count }, () => readCalls.next(random)).filter(
      ({ isLong }) => isLong !== true,
    );
  }

  async #send(): Promise<void> {
    const { client, checker } = this.#options;
    const requested = this.#next();
    if (requested.length === 0) return;
    this.#inFlight++;
    const startedAt = performance.now();
    const replies = await client.send(requested.map(({ method, params }) => ({ method, params })));
    const endedAt = performance.now();
    this.#inFlight--;
    for (const [at, call] of requested.entries()) {
      const reply = replies[at] as Reply;
      const { method, params, isLong = false } = call;
      checker.note({
        kind: client.name,
        what:
          `${method} ${JSON.stringify(params).slice(0, 120)}` +
          (requested.length > 1 ? ` in a batch of ${requested.length}` : ''),
        ...{ startedAt, endedAt, fault: faultOf(call, reply) },
        isBrokenOff: isLong && reply.kind === 'broken',
      });
    }
  }
}
