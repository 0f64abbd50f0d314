import { setTimeout as delay } from 'node:timers/promises';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import type { SeededRandom } from '../nodes/fault-injector.ts';
import type { ChaosFixture } from '../nodes/fixture.ts';
import type { Reply, TestClient } from './clients.ts';
import type { FaultChecker } from './fault-checker.ts';

const PAUSE_MS = [20, 200] as const;
const BATCH_SHARE = 0.1;

/**
 * The newest slots or heights observed by a session, in the order of `commitments`. It does not use `MinSlot`, because
 * a check of the gateway must not share its code.
 */
export class NewestSlots {
  readonly #newest = commitments.map(() => 0);

  /** Minimums for responses to requests that start now. */
  now(): readonly number[] {
    return [...this.#newest];
  }

  observe(commitment: Commitment, slot: number): void {
    const at = commitments.indexOf(commitment);
    this.#newest[at] = Math.max(this.#newest[at] ?? 0, slot);
  }
}

/**
 * Describes a slot that is older than one observed at the same or a higher commitment when the request started; null
 * otherwise.
 */
export function findRegression(
  before: readonly number[],
  commitment: Commitment,
  slot: number,
): string | null {
  for (let at = commitments.indexOf(commitment); at < commitments.length; at++) {
    const observed = before[at] ?? 0;
    if (slot < observed) return `${slot} at ${commitment} after ${observed} at ${commitments[at]}`;
  }
  return null;
}

type SessionRead = Readonly<{
  method: string;
  params: readonly unknown[];
  commitment: Commitment;
  reports: 'slot' | 'height';
}>;

type ReadResult = number | Readonly<{ absoluteSlot?: number; context?: Readonly<{ slot?: number }> }> | null;

const reportedBy = (result: ReadResult): number =>
  typeof result === 'number' ? result : (result?.absoluteSlot ?? result?.context?.slot ?? Number.NaN);

const readsOf = ({ recipients, medium }: ChaosFixture): SessionRead[] =>
  commitments.flatMap((commitment) => {
    const at = { commitment };
    const encoded = { ...at, encoding: 'base64' };
    const reads: Record<string, readonly unknown[]> = {
      getSlot: [at],
      getBlockHeight: [at],
      getEpochInfo: [at],
      getLatestBlockhash: [at],
      getBalance: [recipients[0]?.address, at],
      getAccountInfo: [medium.addresses[0], encoded],
      getMultipleAccounts: [medium.addresses.slice(0, 3), encoded],
    };
    return Object.entries(reads).map(([method, params]): SessionRead => {
      return { method, params, commitment, reports: method === 'getBlockHeight' ? 'height' : 'slot' };
    });
  });

export type SessionsOptions = Readonly<{
  client: TestClient;
  fixture: ChaosFixture;
  checker: FaultChecker;
  random: SeededRandom;
  kind: string;
  count: number;
  readers: number;
}>;

/** Runs readers that must not observe the chain going back, until `isOver` and all responses have arrived. */
export async function runSessions(options: SessionsOptions, isOver: () => boolean): Promise<void> {
  const { client, checker, random, kind } = options;
  const reads = readsOf(options.fixture);

  const read = async (name: string, newest: Record<SessionRead['reports'], NewestSlots>): Promise<void> => {
    const requested = Array.from({ length: random.happens(BATCH_SHARE) ? 4 : 1 }, () => random.oneOf(reads));
    const before = { slot: newest.slot.now(), height: newest.height.now() };
    const startedAt = performance.now();
    const calls = requested.map(({ method, params }) => ({ method, params }));
    const replies = await client.send(calls, name);
    const endedAt = performance.now();
    for (const [at, { method, commitment, reports }] of requested.entries()) {
      const reply = replies[at] as Reply;
      const what = `${method} at ${commitment}, ${name}`;
      const reported = reply.kind === 'result' ? reportedBy(reply.result as ReadResult) : Number.NaN;
      const said = reply.kind === 'result' ? `${JSON.stringify(reply.result)} has no ${reports}` : reply.text;
      const fault = Number.isInteger(reported) ? null : said;
      checker.note({ kind, what, startedAt, endedAt, fault });
      if (fault !== null) continue;
      const back = findRegression(before[reports], commitment, reported);
      if (back !== null)
        checker.recordViolation(`${kind} ${what} went back in its ${reports}: ${back}`, startedAt, endedAt);
      newest[reports].observe(commitment, reported);
    }
  };
  const sessions = Array.from({ length: options.count }, async (_, at) => {
    const newest = { slot: new NewestSlots(), height: new NewestSlots() };
    const reader = async (): Promise<void> => {
      while (!isOver()) {
        await read(`session ${at + 1}`, newest);
        await delay(random.between(...PAUSE_MS));
      }
    };
    await Promise.all(Array.from({ length: options.readers }, reader));
  });
  await Promise.all(sessions);
}
