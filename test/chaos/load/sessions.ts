import { setTimeout as delay } from 'node:timers/promises';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import type { ChaosFixture } from '../nodes/fixture.ts';
import type { SeededRandom } from '../nodes/seeded-random.ts';
import type { Reply, TestClient } from './clients.ts';
import type { FaultChecker } from './fault-checker.ts';
import { findRegression, type Newest, NewestSlots } from './newest-slots.ts';

/** How long a reader rests after each request. */
const PAUSE_MS = [20, 200] as const;
const BATCH_SHARE = 0.1;

export type SessionsOptions = Readonly<{
  client: TestClient;
  scene: ChaosFixture;
  checker: FaultChecker;
  chance: SeededRandom;
  /** What its requests count as. */
  kind: string;
  count: number;
  /** Who asks at the same time in each session. */
  readers: number;
}>;

/** A read of a session, and what its result says of how far the chain is. */
type SessionRead = Readonly<{
  method: string;
  params: readonly unknown[];
  commitment: Commitment;
  /** Heights of blocks are a count of their own. */
  reports: 'slot' | 'height';
  read: (result: ReadResult) => number;
}>;

/** What results say of slots and heights; not a number where one says nothing. */
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

/** One reader's view: what it was told of slots and heights. */
class Session {
  readonly name: string;
  readonly newest = { slot: new NewestSlots(), height: new NewestSlots() };

  constructor(name: string) {
    this.name = name;
  }
}

/** Readers who must not see the chain go back. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #reads: readonly SessionRead[];

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#reads = readsOf(options.scene);
  }

  /** Goes on until `isOver`, and until all is answered. */
  async run(isOver: () => boolean): Promise<void> {
    const sessions = Array.from({ length: this.#options.count }, (_, at) => new Session(`session ${at + 1}`));
    const readers = sessions.flatMap((session) =>
      Array.from({ length: this.#options.readers }, () => this.#reader(session, isOver)),
    );
    await Promise.all(readers);
  }

  async #reader(session: Session, isOver: () => boolean): Promise<void> {
    const { chance } = this.#options;
    while (!isOver()) {
      await this.#read(session);
      await delay(chance.between(...PAUSE_MS));
    }
  }

  async #read(session: Session): Promise<void> {
    const { client, chance } = this.#options;
    const count = chance.happens(BATCH_SHARE) ? 4 : 1;
    const requested = Array.from({ length: count }, () => chance.oneOf(this.#reads));
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
    const said = reply.kind === 'result' ? `${JSON.stringify(reply.result)} says no ${reports}` : reply.text;
    const fault = Number.isInteger(reported) ? null : said;
    checker.note({ kind, what, startedAt, endedAt, fault });
    if (fault !== null) return;
    const back = findRegression(before, commitment, reported);
    if (back !== null)
      checker.recordViolation(`${kind} ${what} went back in its ${reports}: ${back}`, startedAt, endedAt);
    session.newest[reports].observe(commitment, reported);
  }
}
