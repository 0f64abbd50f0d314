import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block, ExecutedTransaction } from '../../../../src/solana/block.ts';
import { blockhashBytes } from '../../../../src/solana/blockhash.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { isSimpleVote } from '../../../../src/solana/transaction/simple-vote.ts';
import { slot } from '../../../../src/solana/units.ts';
import type { GossipVote, LedgerEvent, SlotStats } from '../../../../src/streams/ledger-event.ts';
import { blockOf, type SlotHeader, type SlotRecord } from '../history/slot-record.ts';
import type { BlockStore } from './ledger-state.ts';
import { entriesOf, entryEvent, type SlotEntry } from './slot-entries.ts';
import type { AccountWriter } from './slot-trace.ts';

type Listener = (event: LedgerEvent) => void;

type CommitmentSlots = Readonly<{ confirmed: number; rooted: number }>;

/** One entry per transaction. */
function statsOf(transactions: readonly ExecutedTransaction[]): SlotStats {
  const failed = transactions.filter(({ meta }) => meta.err !== null).length;
  return {
    numTransactionEntries: BigInt(transactions.length),
    numSuccessfulTransactions: BigInt(transactions.length - failed),
    numFailedTransactions: BigInt(failed),
    maxTransactionsPerEntry: transactions.length === 0 ? 0n : 1n,
  };
}

const createdEvent = (number: number, root: number, at: bigint): LedgerEvent => ({
  kind: 'created',
  slot: slot(number),
  parent: slot(Math.max(0, number - 1)),
  root: slot(root),
  at,
});

const transactionEvent = (number: number, index: number, executed: ExecutedTransaction): LedgerEvent => ({
  kind: 'transaction',
  slot: slot(number),
  index,
  executed,
  isVote: isSimpleVote(executed.transaction),
});

function* frozenEvents(block: Block, at: bigint): Iterable<LedgerEvent> {
  yield { kind: 'completed', slot: block.slot, at };
  yield { kind: 'frozen', slot: block.slot, stats: statsOf(block.transactions), at };
  yield { kind: 'block', block };
  yield { kind: 'processed', slot: block.slot };
}

/** Low bits of a write version, which number the writes of one slot. */
const SEQUENCE_BITS = 32n;

/** Write versions are stable across restarts, so that clients recognize repeated events. */
function accountEvent(
  number: number,
  [address, account]: readonly [Address, Account | null],
  sequence: number,
  signature: Signature | null,
): LedgerEvent {
  const writeVersion = (BigInt(number) << SEQUENCE_BITS) | BigInt(sequence);
  return { kind: 'account', slot: slot(number), address, account, signature, writeVersion };
}

/** State that lists the accounts changed by a slot outside of transactions. */
type SlotChanges = Readonly<{ changedBySlot(): Iterable<readonly [Address, Account]> }>;

/** Writes outside of transactions, after all others. */
function* slotWriteEvents(
  number: number,
  bank: SlotChanges | undefined,
  writers: Writers,
): Iterable<LedgerEvent> {
  let sequence = 0;
  for (const writer of writers.values()) sequence = Math.max(sequence, writer.sequence + 1);
  for (const changed of bank?.changedBySlot() ?? []) {
    yield accountEvent(number, changed, sequence++, null);
  }
}

type Writers = ReadonlyMap<Address, AccountWriter>;

type SlotContent = Readonly<{
  transactions: readonly ExecutedTransaction[];
  accounts: SlotRecord['accounts'];
  writers: Writers;
  entries: readonly SlotEntry[];
}>;

function* transactionEvents(
  number: number,
  { transactions, accounts, writers, entries }: SlotContent,
): Iterable<LedgerEvent> {
  for (const changed of accounts) {
    const { transaction, sequence } = writers.get(changed[0]) ?? { transaction: null, sequence: 0 };
    const signature = transaction === null ? null : transactions[transaction]?.transaction.signatures[0];
    yield accountEvent(number, changed, sequence, signature ?? null);
  }
  for (const [index, executed] of transactions.entries()) yield transactionEvent(number, index, executed);
  for (const entry of entries) yield entryEvent(number, entry);
}

const NO_WRITERS: Writers = new Map();

/** The hash of the last entry is the slot's blockhash. */
function recordedEntries({ header, transactions, trace }: SlotRecord, ticks: number): readonly SlotEntry[] {
  if (trace === null) return [];
  const before = blockhashBytes(header.previousBlockhash);
  return entriesOf(
    before,
    transactions.map(({ transaction }) => transaction),
    trace.rejected,
    ticks,
  );
}

/** Rebuilds the events of a frozen slot. Each account is reported once, in its final state. */
function* replayEvents(
  record: SlotRecord,
  bank: SlotChanges | undefined,
  reached: CommitmentSlots,
  ticks: number,
): Iterable<LedgerEvent> {
  const { header, trace } = record;
  const at = BigInt(header.blockTime) * 1000n;
  const writers = trace?.writers ?? NO_WRITERS;
  yield createdEvent(header.slot, reached.rooted, at);
  yield* transactionEvents(header.slot, { ...record, writers, entries: recordedEntries(record, ticks) });
  yield* slotWriteEvents(header.slot, bank, writers);
  yield* frozenEvents(blockOf(record), at);
  if (header.slot <= reached.confirmed) yield { kind: 'confirmed', slot: slot(header.slot), at };
  if (header.slot <= reached.rooted) yield { kind: 'rooted', slot: slot(header.slot), at };
}

/** Frozen blocks, and the states that are still readable. */
export type LedgerHistory = Readonly<{
  blocks: Pick<BlockStore, 'record'>;
  banks: ReadonlyMap<number, SlotChanges>;
}>;

/** Progress of the open slot. */
type OpenSlotWork = Readonly<{
  header: Pick<SlotHeader, 'slot' | 'blockTime'>;
  transactions: readonly ExecutedTransaction[];
  accounts: SlotRecord['accounts'];
  writers: Writers;
  entries: Readonly<{ emitted: readonly SlotEntry[] }>;
}>;

/** Where events start: above the root, at the newest rooted slot, or that many rooted slots earlier. */
export type FollowFrom = 'above root' | 'root' | number;

const rootedSlots = (from: FollowFrom): number => (typeof from === 'number' ? from : from === 'root' ? 1 : 0);

/**
 * Publishes ledger events in order. Without listeners no event is built. Exceptions of listeners propagate
 * to the caller.
 */
export class LedgerEvents {
  readonly #listeners = new Set<Listener>();
  readonly #now: () => number;
  readonly #ticks: number;
  #reached: CommitmentSlots;

  /**
   * @param ticks - ticks per slot.
   * @param now - Unix milliseconds.
   */
  constructor(ticks: number, reached: CommitmentSlots, now: () => number) {
    this.#ticks = ticks;
    this.#reached = reached;
    this.#now = now;
  }

  /**
   * Replays the slots from `from` on to the new listener, then reports all events. For older rooted slots,
   * derived sysvars are not reported.
   * @returns a function that removes the listener.
   */
  follow(
    listener: Listener,
    { blocks, banks }: LedgerHistory,
    open: OpenSlotWork,
    from: FollowFrom,
  ): () => void {
    const { header, entries, ...work } = open;
    const { rooted } = this.#reached;
    for (let past = Math.max(0, rooted + 1 - rootedSlots(from)); past < header.slot; past++) {
      const record = blocks.record(past);
      if (record === null) continue;
      for (const event of replayEvents(record, banks.get(past), this.#reached, this.#ticks)) listener(event);
    }
    listener(createdEvent(header.slot, rooted, BigInt(header.blockTime) * 1000n));
    for (const event of transactionEvents(header.slot, { ...work, entries: entries.emitted }))
      listener(event);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  created(number: number): void {
    if (this.#hasListeners) this.#emit(createdEvent(number, this.#reached.rooted, this.#at));
  }

  received(signature: Signature | undefined, number: number): void {
    if (!this.#hasListeners || signature === undefined) return;
    this.#emit({ kind: 'received', signature, slot: slot(number) });
  }

  transaction(number: number, index: number, executed: ExecutedTransaction): void {
    if (this.#hasListeners) this.#emit(transactionEvent(number, index, executed));
  }

  /** @param signature - signature of the transaction that wrote the account; null for other writes. */
  account(
    number: number,
    changed: readonly [Address, Account | null],
    { sequence }: AccountWriter,
    signature: Signature | null,
  ): void {
    if (this.#hasListeners) this.#emit(accountEvent(number, changed, sequence, signature));
  }

  entry(number: number, entry: SlotEntry): void {
    if (this.#hasListeners) this.#emit(entryEvent(number, entry));
  }

  /** A vote of the node that was executed. */
  vote(vote: GossipVote): void {
    if (this.#hasListeners) this.#emit({ kind: 'vote', vote });
  }

  /** Publishes a frozen slot and the slots that become confirmed or finalized with it. */
  frozen({ header, trace }: SlotRecord, block: Block, bank: SlotChanges, reached: CommitmentSlots): void {
    const before = this.#reached;
    this.#reached = reached;
    if (!this.#hasListeners) return;
    for (const event of slotWriteEvents(header.slot, bank, trace?.writers ?? NO_WRITERS)) this.#emit(event);
    for (const event of frozenEvents(block, this.#at)) this.#emit(event);
    for (let next = before.confirmed + 1; next <= reached.confirmed; next++) {
      this.#emit({ kind: 'confirmed', slot: slot(next), at: this.#at });
    }
    for (let next = before.rooted + 1; next <= reached.rooted; next++) {
      this.#emit({ kind: 'rooted', slot: slot(next), at: this.#at });
    }
  }

  get #hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  get #at(): bigint {
    return BigInt(this.#now());
  }

  #emit(event: LedgerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
