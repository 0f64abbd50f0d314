import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SubscribeUpdate, type SubscribeUpdateAccountInfo } from '@triton-one/yellowstone-grpc';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { type SlotStatus, slotStatuses } from '../../../src/protocol/geyser/update/slot.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import type { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';
import type { SendRequest } from '../ledger-truth.ts';
import { openStream, type StreamOptions } from './stream.ts';

type ReceivedSlot = Readonly<{
  transactions: string[];
  /** Address, and a text with the write version and account state. */
  writes: Readonly<{ address: string; words: string }>[];
  entries: string[];
  metas: string[];
  /** Statuses that every stream receives. */
  statuses: SlotStatus[];
  /** Kinds of updates received after the slot reached the stream's commitment. */
  late: string[];
}>;

const emptySlot = (): ReceivedSlot => ({
  ...{ transactions: [], writes: [], entries: [], metas: [], statuses: [], late: [] },
});

const all = new Map([['all', {}]]);
const whole = new Map([
  ['whole', { includeAccounts: true, includeTransactions: true, includeEntries: true }],
]);

function describe({ pubkey, ...account }: SubscribeUpdateAccountInfo, hasVersion: boolean): string {
  const data = createHash('sha256').update(account.data).digest('hex').slice(0, 16);
  const [address, owner] = [encodeBase58(pubkey), encodeBase58(account.owner)];
  const version = hasVersion ? ` v${account.writeVersion}` : '';
  return `${address}${version} ${account.lamports} of ${owner} ${data}`;
}

type ListenerOptions = Readonly<{
  /** Subscribes to blocks instead of their contents. */
  ofBlocks?: boolean;
  /** Leaves out write versions, because each node counts its own. */
  severalNodes?: boolean;
}>;

export class LedgerListener {
  readonly name: string;
  readonly commitment: Commitment;
  readonly slots = new Map<number, ReceivedSlot>();
  /** Slots in the order in which they reached the stream's commitment. */
  readonly order: number[] = [];
  /** Why the stream ended; null while it is open. */
  ended: string | null = null;
  received = 0;
  readonly #hasVersions: boolean;
  readonly #stream: GrpcStream;

  constructor(name: string, stream: StreamOptions, commitment: Commitment, options: ListenerOptions = {}) {
    this.name = name;
    this.commitment = commitment;
    this.#hasVersions = options.severalNodes !== true;
    const content = options.ofBlocks
      ? { blocks: whole }
      : { accounts: all, transactions: all, entry: ['all'], blocksMeta: ['all'] };
    this.#stream = openStream(
      stream,
      encodeSubscribeRequest({ slots: all, ...content, commitment }),
      (bytes) => this.#take(SubscribeUpdate.decode(bytes)),
      (why) => {
        this.ended = why;
      },
    );
  }

  close(): void {
    this.#stream.close();
  }

  #take(update: SubscribeUpdate): void {
    const { account, slot: status, transaction, block, blockMeta, entry } = update;
    const content = { account, transaction, block, blockMeta, entry };
    const [kind, received] =
      Object.entries({ status, ...content }).find(([, one]) => one !== undefined) ?? [];
    if (kind === undefined || received === undefined) return;
    this.received++;
    const slot = Number(received.slot);
    const known = this.slots.get(slot) ?? emptySlot();
    this.slots.set(slot, known);
    if (status !== undefined) {
      const name = slotStatuses.at(status.status) as SlotStatus;
      if (!commitments.some((level) => level === name)) return;
      if (name === this.commitment) this.order.push(slot);
      known.statuses.push(name);
      return;
    }
    if (known.statuses.includes(this.commitment)) known.late.push(kind);
    const accounts = account ? [account.account!] : (block?.accounts ?? []);
    for (const write of accounts) {
      known.writes.push({ address: encodeBase58(write.pubkey), words: describe(write, this.#hasVersions) });
    }
    const transactions = transaction ? [transaction.transaction!] : (block?.transactions ?? []);
    known.transactions.push(...transactions.map(({ signature }) => encodeBase58(signature)));
    const entries = entry ? [entry] : (block?.entries ?? []);
    known.entries.push(...entries.map(({ index, hash }) => `${index} ${encodeBase58(hash)}`));
    const meta = block ?? blockMeta;
    if (meta) known.metas.push(meta.blockhash);
  }
}

const lastWrites = ({ writes }: ReceivedSlot): string[] => [
  ...new Map(writes.map(({ address, words }) => [address, words])).values(),
];

/** The names without as many of each as there are in `others`. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const name of others) left.set(name, (left.get(name) ?? 0) + 1);
  return names.filter((name) => {
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}

function compared(kind: string, incoming: readonly string[], expected: readonly string[]): string[] {
  const show = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${what} ${names.length} ${kind}: ${names[0]}`];
  return [
    ...show('lacks', without(expected, incoming)),
    ...show('has unknown or duplicate', without(incoming, expected)),
  ];
}

/**
 * Compares a slot of a stream with the same slot of an undisturbed stream at processed.
 * @returns faults.
 */
function checkSlot(
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

export const openListeners = (stream: StreamOptions, severalNodes = false): LedgerListener[] => [
  ...commitments.map((commitment) => new LedgerListener(commitment, stream, commitment, { severalNodes })),
  new LedgerListener('blocks', stream, 'confirmed', { ofBlocks: true, severalNodes }),
];

/** How long to wait for the last updates at the end. */
const QUIET_MS = 120_000;

/** Waits for a limited time until all streams have received that the slot is finalized. */
async function untilFinal(listeners: readonly LedgerListener[], slot: number): Promise<void> {
  const has = ({ slots }: LedgerListener): boolean =>
    slots.get(slot)?.statuses.includes('finalized') === true;
  for (const until = performance.now() + QUIET_MS; performance.now() < until && !listeners.every(has); ) {
    await sleep(100);
  }
}

async function checkTruth(
  truth: LedgerListener,
  slots: readonly number[],
  request: SendRequest,
): Promise<string[]> {
  const wrong: string[] = [];
  const blocks = (await request('getBlocks', [slots[0], slots.at(-1)])) as number[];
  wrong.push(...compared('blocks of the ledger', slots.map(String), blocks.map(String)));
  for (const slot of slots) {
    const config = { transactionDetails: 'signatures', rewards: false, maxSupportedTransactionVersion: 0 };
    const { signatures } = (await request('getBlock', [slot, config])) as { signatures: readonly string[] };
    const reported = truth.slots.get(slot)!.transactions;
    if (String([...signatures].sort()) !== String([...reported].sort())) {
      wrong.push(`transactions of block ${slot} and of its Geyser differ`);
    }
  }
  return wrong;
}

function checkListener(listener: LedgerListener, truth: LedgerListener, slots: readonly number[]): string[] {
  const wrong = listener.ended === null ? [] : [`${listener.name} ended: ${listener.ended}`];
  const isIn = (slot: number): boolean => slot >= slots[0]! && slot <= slots.at(-1)!;
  if (String(listener.order.filter(isIn)) !== String(slots)) {
    wrong.push(`${listener.name} received other slots, or in another order`);
  }
  for (const slot of slots) {
    const incoming = listener.slots.get(slot);
    const faults =
      incoming === undefined
        ? ['was not received']
        : checkSlot(incoming, truth.slots.get(slot)!, listener.commitment, listener.name === 'blocks');
    wrong.push(...faults.map((fault) => `${listener.name}: slot ${slot} ${fault}`));
  }
  return wrong;
}

/**
 * Compares streams with an undisturbed one at processed, and that one with the blocks of the ledger.
 * @returns the compared slots, and faults.
 */
export async function compareWithLedger(
  truth: LedgerListener,
  listeners: readonly LedgerListener[],
  [started, stopped]: readonly [number, number],
  request: SendRequest,
): Promise<{ slots: number[]; faults: string[] }> {
  await untilFinal([truth, ...listeners], stopped);
  const slots = truth.order.filter((slot) => slot >= started && slot <= stopped);
  const faults = [
    ...(await checkTruth(truth, slots, request)),
    ...listeners.flatMap((listener) => checkListener(listener, truth, slots)),
  ];
  return { slots, faults };
}
