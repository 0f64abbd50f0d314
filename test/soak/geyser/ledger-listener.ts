import { createHash } from 'node:crypto';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { decodeSubscribeUpdate, type Update } from '../../../src/protocol/geyser/subscribe-update.ts';
import type { AccountWrite } from '../../../src/protocol/geyser/update/account.ts';
import type { SlotStatus } from '../../../src/protocol/geyser/update/slot.ts';
import { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';
import { longTimeouts } from './long-timeouts.ts';

/** Updates of one slot, in order. */
export type ReceivedSlot = Readonly<{
  transactions: string[];
  /** Address, and version with a digest of the account. */
  writes: Readonly<{ address: string; words: string }>[];
  entries: string[];
  metas: string[];
  /** Statuses that every stream receives. */
  statuses: SlotStatus[];
  /** Updates after the slot reached the stream's commitment. */
  late: string[];
}>;

export type ListenerOptions = Readonly<{
  name: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  commitment: Commitment;
  /** Subscribes to blocks instead of their contents. */
  ofBlocks?: boolean;
}>;

const emptySlot = (): ReceivedSlot => ({
  ...{ transactions: [], writes: [], entries: [], metas: [], statuses: [], late: [] },
});

const all = new Map([['all', {}]]);
const whole = new Map([
  ['whole', { includeAccounts: true, includeTransactions: true, includeEntries: true }],
]);

function describe({ address, account, writeVersion }: AccountWrite): string {
  const data = createHash('sha256').update(account.data).digest('hex').slice(0, 16);
  return `${address} v${writeVersion} ${account.lamports} of ${account.owner} ${data}`;
}

/** Records all updates of a stream. */
export class LedgerListener {
  readonly name: string;
  readonly commitment: Commitment;
  readonly slots = new Map<number, ReceivedSlot>();
  /** Slots in the order in which they reached the stream's commitment. */
  readonly order: number[] = [];
  /** Why it ended. */
  ended: string | null = null;
  #received = 0;
  readonly #stream: GrpcStream;

  constructor({ name, url, headers = {}, commitment, ofBlocks = false }: ListenerOptions) {
    this.name = name;
    this.commitment = commitment;
    this.#stream = new GrpcStream(
      { ...longTimeouts, url, headers, method: '/geyser.Geyser/Subscribe' },
      {
        onOpen: () => {},
        onMessage: (bytes) => this.#take(decodeSubscribeUpdate(bytes).update),
        onEnd: ({ code, message }) => {
          this.ended = `${code} ${message}`;
        },
      },
    );
    const content = ofBlocks
      ? { blocks: whole }
      : { accounts: all, transactions: all, entry: ['all'], blocksMeta: ['all'] };
    this.#stream.send(encodeSubscribeRequest({ slots: all, ...content, commitment }));
  }

  /** Messages. */
  get received(): number {
    return this.#received;
  }

  close(): void {
    this.#stream.close();
  }

  #take(update: Update | null): void {
    if (update === null || !('slot' in update)) return;
    this.#received++;
    const slot = Number(update.slot);
    const known = this.slots.get(slot) ?? emptySlot();
    this.slots.set(slot, known);
    if (update.kind === 'slot') {
      if (!commitments.some((level) => level === update.status)) return;
      if (update.status === this.commitment) this.order.push(slot);
      known.statuses.push(update.status);
      return;
    }
    if (known.statuses.includes(this.commitment)) known.late.push(update.kind);
    this.#note(known, update);
  }

  #note(known: ReceivedSlot, update: Update): void {
    const addWrite = (write: AccountWrite): unknown =>
      known.writes.push({ address: write.address, words: describe(write) });
    switch (update.kind) {
      case 'account':
        addWrite(update.write);
        break;
      case 'transaction':
        known.transactions.push(update.info.signature);
        break;
      case 'entry':
        known.entries.push(`${update.index} ${update.hash}`);
        break;
      case 'block':
        for (const write of update.accounts) addWrite(write);
        known.transactions.push(...update.transactions.map(({ signature }) => signature));
        known.entries.push(...update.entries.map(({ index, hash }) => `${index} ${hash}`));
        known.metas.push(update.blockhash);
        break;
      case 'blockMeta':
        known.metas.push(update.blockhash);
    }
  }
}

/** The last write of each account, in any order. */
const lastWrites = ({ writes }: ReceivedSlot): string[] => [
  ...new Map(writes.map(({ address, words }) => [address, words])).values(),
];

function compared(kind: string, incoming: readonly string[], expected: readonly string[]): string[] {
  const [had, due] = [new Set(incoming), new Set(expected)];
  const show = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${what} ${names.length} ${kind}: ${names[0]}`];
  return [
    ...show(
      'lacks',
      expected.filter((name) => !had.has(name)),
    ),
    ...show(
      'has unknown',
      incoming.filter((name) => !due.has(name)),
    ),
    ...show(
      'has twice',
      incoming.filter((name, at) => incoming.indexOf(name) !== at),
    ),
  ];
}

/**
 * Compares a slot of a stream with the same slot of an undisturbed stream at processed.
 * @returns faults.
 */
export function checkSlot(
  received: ReceivedSlot,
  truth: ReceivedSlot,
  commitment: Commitment,
  ofBlocks: boolean,
): string[] {
  const eachWrite = commitment === 'processed' && !ofBlocks;
  const writes = received.writes.map(({ words }) => words);
  const expected = eachWrite ? truth.writes.map(({ words }) => words) : lastWrites(truth);
  const ordered = (slot: ReceivedSlot): string =>
    [...Map.groupBy(slot.writes, ({ address }) => address)]
      .map(([address, own]) => [address, ...own.map(({ words }) => words)].join())
      .sort()
      .join();
  return [
    ...compared('writes', writes, expected),
    ...(eachWrite && writes.length === expected.length && ordered(received) !== ordered(truth)
      ? ['has writes of an account in another order']
      : []),
    ...compared('transactions', received.transactions, truth.transactions),
    ...compared('entries', received.entries, truth.entries),
    ...compared('block', received.metas, truth.metas),
    ...compared('statuses', received.statuses, commitments),
    ...received.late.slice(0, 1).map((kind) => `received a ${kind} after its end`),
  ];
}
