import { setTimeout as delay } from 'node:timers/promises';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import type { ChaosFixture } from '../nodes/fixture.ts';
import type { SeededRandom } from '../nodes/seeded-random.ts';
import type { Reply, TestClient } from './clients.ts';
import type { FaultChecker } from './fault-checker.ts';
import { findRegression, type Newest, NewestSlots } from './newest-slots.ts';

/** Pause after each request. */
const PAUSE_MS = [20, 200] as const;
const BATCH_SHARE = 0.1;

export type SessionsOptions = Readonly<{
  client: TestClient;
  fixture: ChaosFixture;
  checker: FaultChecker;
  random: SeededRandom;
  /** Kind of its requests in the report. */
  kind: string;
  count: number;
  /** Concurrent readers of each session. */
  readers: number;
}>;

/** A read of a session, and the slot or height in its result. */
type SessionRead = Readonly<{
  method: string;
  params: readonly unknown[];
  commitment: Commitment;
  /** Block heights are compared separately. */
  reports: 'slot' | 'height';
  read: (result: ReadResult) => number;
}>;

/** Results with a slot or height. */
type ReadResult = number | Readonly<{ absoluteSlot?: number; context?: Readonly<{ slot?: number }> }> | null;

const contextSlot = (result: ReadResult): number =>
  (typeof result === 'number' ? null : result?.context?.slot) ?? Number.NaN;
const absoluteSlot = (result: ReadResult): number =>
  (typeof result === 'number' ? null : result?.absoluteSlot) ?? Number.NaN;
const itself = (result: ReadResult): number => (typeof result === 'number' ? result : Number.NaN);

function readsOf({ recipients, medium }: ChaosFixture): SessionRead[] {
  const address = recipients[0]?.address;
  return commitments.flatMap((commitment): SessionRead[] => {
    const at = { commitment };
    const read = (
      method: string,
      params: readonly unknown[],
      how: (result: ReadResult) => number,
    ): SessionRead => ({
      ...{ method, params, commitment, read: how },
      reports: method === 'getBlockHeight' ? 'height' : 'slot',
    });
    return [
      read('getSlot', [at], itself),
      read('getBlockHeight', [at], itself),
      read('getEpochInfo', [at], absoluteSlot),
      read('getLatestBlockhash', [at], contextSlot),
      read('getBalance', [address, at], contextSlot),
      read('getAccountInfo', [medium.addresses[0], { ...at, encoding: 'base64' }], contextSlot),
      read('getMultipleAccounts', [medium.addresses.slice(0, 3), { ...at, encoding: 'base64' }], contextSlot),
    ];
  });
}

/** Slots and heights observed by a session. */
type Session = Readonly<{ name: string; newest: Readonly<Record<SessionRead['reports'], NewestSlots>> }>;

/** Readers that must not observe the chain going back. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #reads: readonly SessionRead[];

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#reads = readsOf(options.fixture);
  }

  /** Runs until `isOver` and all replies have arrived. */
  async run(isOver: () => boolean): Promise<void> {
    const sessions = Array.from({ length: this.#options.count }, (_, at) => ({
      name: `session ${at + 1}`,
      newest: { slot: new NewestSlots(), height: new NewestSlots() },
    }));
    const readers = sessions.flatMap((session) =>
      Array.from({ length: this.#options.readers }, () => this.#reader(session, isOver)),
    );
    await Promise.all(readers);
  }

  async #reader(session: Session, isOver: () => boolean): Promise<void> {
    const { random } = this.#options;
    while (!isOver()) {
      await this.#read(session);
      await delay(random.between(...PAUSE_MS));
    }
  }

  async #read(session: Session): Promise<void> {
    const { client, random } = this.#options;
    const count = random.happens(BATCH_SHARE) ? 4 : 1;
    const requested = Array.from({ length: count }, () => random.oneOf(this.#reads));
    const before = { slot: session.newest.slot.now(), height: session.newest.height.now() };
    const startedAt = performance.now();
    const calls = requested.map(({ method, params }) => ({ method, params }));
    const replies = await client.send(calls, session.name);
    const endedAt = performance.now();
    for (const [at, read] of requested.entries())
      this.#check(session, read, replies[at] as Reply, before[read.reports], startedAt, endedAt);
  }

  #check(
    session: Session,
    { method, commitment, reports, read }: SessionRead,
    reply: Reply,
    before: Newest,
    startedAt: number,
    endedAt: number,
  ): void {
    const { checker, kind } = this.#options;
    const what = `${method} at ${commitment}, ${session.name}`;
    const reported = reply.kind === 'result' ? read(reply.result as ReadResult) : Number.NaN;
    const said = reply.kind === 'result' ? `${JSON.stringify(reply.result)} has no ${reports}` : reply.text;
    const fault = Number.isInteger(reported) ? null : said;
    checker.note({ kind, what, startedAt, endedAt, fault });
    if (fault !== null) return;
    const back = findRegression(before, commitment, reported);
    if (back !== null)
      checker.recordViolation(`${kind} ${what} went back in its ${reports}: ${back}`, startedAt, endedAt);
    session.newest[reports].observe(commitment, reported);
  }
}
