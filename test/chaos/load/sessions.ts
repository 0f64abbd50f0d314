import { setTimeout as delay } from 'node:timers/promises';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import type { Chance } from '../nodes/chance.ts';
import type { Scene } from '../nodes/scene.ts';
import type { Door, Reply } from './doors.ts';
import type { Judge } from './judge.ts';
import { type Newest, ToldSoFar, wentBack } from './told-so-far.ts';

/** How long a reader rests after each request. */
const PAUSE_MS = [20, 200] as const;
const BATCH_SHARE = 0.1;

export type SessionsOptions = Readonly<{
  door: Door;
  scene: Scene;
  judge: Judge;
  chance: Chance;
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
  tells: 'slot' | 'height';
  read: (result: Told) => number;
}>;

/** What results say of slots and heights; not a number where one says nothing. */
type Told = number | Readonly<{ absoluteSlot?: number; context?: Readonly<{ slot?: number }> }> | null;

const contextSlot = (result: Told): number =>
  (typeof result === 'number' ? null : result?.context?.slot) ?? Number.NaN;
const absoluteSlot = (result: Told): number =>
  (typeof result === 'number' ? null : result?.absoluteSlot) ?? Number.NaN;
const itself = (result: Told): number => (typeof result === 'number' ? result : Number.NaN);

function readsOf({ recipients, medium }: Scene): SessionRead[] {
  const address = recipients[0]?.address;
  return commitments.flatMap((commitment): SessionRead[] => {
    const at = { commitment };
    const read = (
      method: string,
      params: readonly unknown[],
      how: (result: Told) => number,
    ): SessionRead => ({
      ...{ method, params, commitment, read: how },
      tells: method === 'getBlockHeight' ? 'height' : 'slot',
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
  readonly told = { slot: new ToldSoFar(), height: new ToldSoFar() };

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
      await this.#ask(session);
      await delay(chance.between(...PAUSE_MS));
    }
  }

  async #ask(session: Session): Promise<void> {
    const { door, chance } = this.#options;
    const count = chance.happens(BATCH_SHARE) ? 4 : 1;
    const asked = Array.from({ length: count }, () => chance.oneOf(this.#reads));
    const before = { slot: session.told.slot.now(), height: session.told.height.now() };
    const startedAt = performance.now();
    const calls = asked.map(({ method, params }) => ({ method, params }));
    const replies = await door.ask(calls, session.name);
    const endedAt = performance.now();
    for (const [at, read] of asked.entries())
      this.#judge(session, read, replies[at] as Reply, before[read.tells], startedAt, endedAt);
  }

  #judge(
    session: Session,
    { method, commitment, tells, read }: SessionRead,
    reply: Reply,
    before: Newest,
    startedAt: number,
    endedAt: number,
  ): void {
    const { judge, kind } = this.#options;
    const what = `${method} at ${commitment}, ${session.name}`;
    const told = reply.kind === 'result' ? read(reply.result as Told) : Number.NaN;
    const said = reply.kind === 'result' ? `${JSON.stringify(reply.result)} says no ${tells}` : reply.text;
    const fault = Number.isInteger(told) ? null : said;
    judge.note({ kind, what, startedAt, endedAt, fault });
    if (fault !== null) return;
    const back = wentBack(before, commitment, told);
    if (back !== null) judge.never(`${kind} ${what} went back in its ${tells}: ${back}`, startedAt, endedAt);
    session.told[tells].told(commitment, told);
  }
}
