import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../nodes/seeded-random.ts';
import type { Reply, TestClient } from './clients.ts';
import type { FaultChecker } from './fault-checker.ts';
import type { ReadCall, ReadCalls } from './read-calls.ts';

/** The share of requests that hold several calls, and how many at most. */
const BATCH_SHARE = 0.08;
const BATCH_CALLS_MAX = 12;
/** Requests under way; one more is left out, so that a time in which nothing is answered costs no memory. */
const IN_FLIGHT_MAX = 400;

export type ReadsOptions = Readonly<{
  client: TestClient;
  questions: ReadCalls;
  checker: FaultChecker;
  chance: SeededRandom;
  perSecond: number;
}>;

/** What is wrong with a reply to a question; null when nothing is. */
export const faultOf = (question: ReadCall, reply: Reply): string | null =>
  reply.kind === 'result' ? question.check(reply.result) : reply.text;

/** Asks through a door at a steady pace, however long answers take. */
export class Reads {
  /** Requests that were left out because too many were under way. */
  skipped = 0;
  readonly #options: ReadsOptions;
  #inFlight = 0;

  constructor(options: ReadsOptions) {
    this.#options = options;
  }

  /** Goes on until `isOver`, and until all is answered. */
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
    const { chance, questions } = this.#options;
    if (!chance.happens(BATCH_SHARE)) return [questions.next(chance)];
    const count = Math.round(chance.between(2, BATCH_CALLS_MAX));
    return Array.from({ length: count }, () => questions.next(chance)).filter(
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
    for (const [at, question] of requested.entries()) {
      const reply = replies[at] as Reply;
      const { method, params, isLong = false } = question;
      checker.note({
        kind: client.name,
        what:
          `${method} ${JSON.stringify(params).slice(0, 120)}` +
          (requested.length > 1 ? ` in a batch of ${requested.length}` : ''),
        ...{ startedAt, endedAt, fault: faultOf(question, reply) },
        isBrokenOff: isLong && reply.kind === 'broken',
      });
    }
  }
}
