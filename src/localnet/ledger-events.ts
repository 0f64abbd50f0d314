import type { Account } from '../ledger/account/account.ts';
import type { Address } from '../ledger/address.ts';
import type { Block, ExecutedTransaction } from '../ledger/block.ts';
import type { Signature } from '../ledger/signature.ts';
import { isSimpleVote } from '../ledger/transaction/simple-vote.ts';
import { slot } from '../ledger/units.ts';
import type { LedgerEvent, SlotStats } from '../streams/ledger-event.ts';
import type { BlockStore } from './ledger-state.ts';
import { ownVote, type Voter } from './own-vote.ts';
import type { SlotHeader } from './slot-header.ts';
import { blockOf, type SlotRecord } from './slot-record.ts';

type Listener = (event: LedgerEvent) => void;

/** How far the slots have come that are confirmed and rooted. */
type Reached = Readonly<{ confirmed: number; rooted: number }>;

/** Each transaction is an entry of its own. */
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
  parent: slot(number - 1),
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

/** The state of a frozen slot. */
type Changes = Readonly<{ changedBySlot(): Iterable<readonly [Address, Account]> }>;

/** What a slot that froze earlier would have told; of an account only how the slot left it. */
function* pastEvents(record: SlotRecord, bank: Changes | undefined, reached: Reached): Iterable<LedgerEvent> {
  const { header, transactions, accounts } = record;
  const at = BigInt(header.blockTime) * 1000n;
  yield createdEvent(header.slot, reached.rooted, at);
  yield* workEvents(header.slot, transactions, accounts);
  yield* slotEvents(header.slot, bank);
  yield* frozenEvents(blockOf(record), at);
  if (header.slot <= reached.confirmed) yield { kind: 'confirmed', slot: slot(header.slot), at };
}

function* slotEvents(number: number, bank: Changes | undefined): Iterable<LedgerEvent> {
  for (const [address, account] of bank?.changedBySlot() ?? []) {
    yield { kind: 'account', slot: slot(number), address, account };
  }
}

function* workEvents(
  number: number,
  transactions: readonly ExecutedTransaction[],
  accounts: SlotRecord['accounts'],
): Iterable<LedgerEvent> {
  for (const [address, account] of accounts) yield { kind: 'account', slot: slot(number), address, account };
  for (const [index, executed] of transactions.entries()) yield transactionEvent(number, index, executed);
}

/** The slots that froze, and the states of those that may still be read. */
export type Past = Readonly<{ blocks: Pick<BlockStore, 'record'>; banks: ReadonlyMap<number, Changes> }>;

/** The slot that is being made, as far as it has come. */
export type OpenWork = Readonly<{
  header: Pick<SlotHeader, 'slot' | 'blockTime'>;
  transactions: readonly ExecutedTransaction[];
  accounts: SlotRecord['accounts'];
}>;

/**
 * Tells those who follow the ledger what it does, in order. While nobody does, nothing is made to be told. What
 * a listener throws comes out of the call that told it.
 */
export class LedgerEvents {
  readonly #listeners = new Set<Listener>();
  readonly #voter: Voter;
  readonly #now: () => number;
  #reached: Reached;

  /** @param now - Unix milliseconds. */
  constructor(voter: Voter, reached: Reached, now: () => number) {
    this.#voter = voter;
    this.#reached = reached;
    this.#now = now;
  }

  /**
   * First tells the new listener of the slots that are not rooted yet, then of all that happens.
   * @returns what ends it.
   */
  follow(listener: Listener, { blocks, banks }: Past, open: OpenWork): () => void {
    const { header, transactions, accounts } = open;
    for (let past = this.#reached.rooted + 1; past < header.slot; past++) {
      const record = blocks.record(past);
      if (record === null) continue;
      for (const event of pastEvents(record, banks.get(past), this.#reached)) listener(event);
    }
    listener(createdEvent(header.slot, this.#reached.rooted, BigInt(header.blockTime) * 1000n));
    for (const event of workEvents(header.slot, transactions, accounts)) listener(event);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  created(number: number): void {
    if (this.#isHeard) this.#tell(createdEvent(number, this.#reached.rooted, this.#at));
  }

  received(signature: Signature | undefined, number: number): void {
    if (!this.#isHeard || signature === undefined) return;
    this.#tell({ kind: 'received', signature, slot: slot(number) });
  }

  transaction(number: number, index: number, executed: ExecutedTransaction): void {
    if (this.#isHeard) this.#tell(transactionEvent(number, index, executed));
  }

  account(number: number, address: Address, account: Account | null): void {
    if (this.#isHeard) this.#tell({ kind: 'account', slot: slot(number), address, account });
  }

  /** A slot froze and is the tip; it takes others up to `reached`. */
  frozen({ header }: SlotRecord, block: Block, bank: Changes, reached: Reached): void {
    const before = this.#reached;
    this.#reached = reached;
    if (!this.#isHeard) return;
    for (const event of slotEvents(header.slot, bank)) this.#tell(event);
    for (const event of frozenEvents(block, this.#at)) this.#tell(event);
    this.#tell({ kind: 'vote', vote: ownVote(this.#voter, header) });
    for (let next = before.confirmed + 1; next <= reached.confirmed; next++) {
      this.#tell({ kind: 'confirmed', slot: slot(next), at: this.#at });
    }
    for (let next = before.rooted + 1; next <= reached.rooted; next++) {
      this.#tell({ kind: 'rooted', slot: slot(next), at: this.#at });
    }
  }

  get #isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  get #at(): bigint {
    return BigInt(this.#now());
  }

  #tell(event: LedgerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
