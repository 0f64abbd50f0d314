import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { verifyTransaction } from '../../../../src/solana/ed25519.ts';
import { priorityFeeOf } from '../../../../src/solana/transaction/compute-budget.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import type { SlotRecord } from '../history/slot-record.ts';
import type { BroadcastStage } from '../network/broadcast-stage.ts';
import { chargeFault, type Execution, executeTransaction, type Refusal } from './execute-transaction.ts';
import type { LedgerEvents } from './ledger-events.ts';
import type { LedgerState } from './ledger-state.ts';
import type { OpenSlotState } from './open-slot-state.ts';
import { mixinOf, type RecordedEntry, type SlotEntry } from './slot-entries.ts';
import { type Age, ageOfTransaction } from './transaction-checks.ts';
import { Vm } from './vm.ts';

/** Error of a rejected or failed transaction, or the missing block capacity. */
export type BankingResult = Readonly<{ err: TransactionError | null } | { missingCost: bigint }>;

type BankingStageOptions = Readonly<{
  state: Pick<LedgerState, 'genesis' | 'recentBlocks' | 'statuses'>;
  events: LedgerEvents;
  /** null without shreds. */
  broadcast: BroadcastStage | null;
  /** Cost units per slot. */
  blockCostMax: bigint;
}>;

/** Runs transactions in the open slot. */
export class BankingStage {
  readonly #parts: BankingStageOptions;
  readonly #vm = new Vm();
  #open: OpenSlotState;

  constructor(open: OpenSlotState, parts: BankingStageOptions) {
    this.#open = open;
    this.#parts = parts;
  }

  get open(): OpenSlotState {
    return this.#open;
  }

  startSlot(open: OpenSlotState): void {
    this.#open = open;
  }

  get remainingCost(): bigint {
    return this.#parts.blockCostMax - this.#open.cost;
  }

  /** Whether a transaction may be announced: it can be charged and its shreds fit. */
  mayRun(transaction: Transaction): boolean {
    const { broadcast, state } = this.#parts;
    const { header, view } = this.#open;
    if (broadcast?.hasCapacity(header.slot, state.genesis.ticksPerSlot) !== true) return false;
    if (!verifyTransaction(transaction)) return false;
    return 'nonce' in this.#judge(transaction) && chargeFault(transaction, view) === null;
  }

  /** @param isNew - whether it was not seen before. */
  take(transaction: Transaction, isNew: boolean): BankingResult {
    const { events, broadcast } = this.#parts;
    const recorded = broadcast?.take(transaction);
    const execution = this.#execute(transaction, recorded !== undefined);
    if ('refused' in execution) {
      this.#leaveOut(recorded);
      return { err: execution.refused };
    }
    if (isNew) events.received(transaction.signatures[0], this.#open.header.slot);
    const { err, costUnits } = execution.meta;
    // With shreds, only announced transactions run.
    const isUnsent = broadcast !== null && recorded === undefined;
    if (isUnsent || costUnits > this.remainingCost) {
      this.#leaveOut(recorded);
      return { missingCost: costUnits };
    }
    this.#commit(transaction, execution, recorded ?? this.#open.entries.record(mixinOf(transaction)));
    return { err };
  }

  /** @param by - the writing transaction; null for the slot itself. */
  write(address: Address, account: Account | null, by: Transaction | null): void {
    const open = this.#open;
    const writer = open.write(address, account, by === null ? null : open.transactions.length);
    this.#parts.events.account(open.header.slot, [address, account], writer, by?.signatures[0] ?? null);
  }

  /** Pays the leader and completes the slot with its last tick. */
  seal(): SlotRecord {
    const { state, events, broadcast } = this.#parts;
    const { identity, ticksPerSlot } = state.genesis;
    const open = this.#open;
    const paid = open.payLeader(identity);
    if (paid !== null) this.write(identity, paid, null);
    const ticks = open.entries.tick(ticksPerSlot);
    for (const tick of ticks) events.entry(open.header.slot, tick);
    broadcast?.end(open.header.slot, ticks);
    return open.sealed((ticks.at(-1) as SlotEntry).hash);
  }

  #judge(transaction: Transaction): Age | Refusal {
    const { recentBlocks, statuses } = this.#parts.state;
    const { header, view } = this.#open;
    const age = ageOfTransaction(transaction, header.slot - 1, recentBlocks, view);
    if (age === null) return { refused: 'BlockhashNotFound' };
    return statuses.slotOf(transaction) === undefined ? age : { refused: 'AlreadyProcessed' };
  }

  #execute(transaction: Transaction, isVerified: boolean): Execution | Refusal {
    if (!isVerified && !verifyTransaction(transaction)) return { refused: 'SignatureFailure' };
    const age = this.#judge(transaction);
    if ('refused' in age) return age;
    return executeTransaction(transaction, age.nonce, this.#open.view, this.#vm);
  }

  #commit(transaction: Transaction, { meta, writes }: Execution, recorded: RecordedEntry): void {
    const open = this.#open;
    const { events, state } = this.#parts;
    for (const [address, account] of writes) this.write(address, account, transaction);
    const executed = { transaction, meta };
    events.transaction(open.header.slot, open.transactions.length, executed);
    open.transactions.push(executed);
    events.entry(open.header.slot, open.entries.ran(recorded));
    open.cost += meta.costUnits;
    const priority = priorityFeeOf(transaction.message);
    // Half of the signature fees is burnt, the rest goes to the leader. Source: SIMD-0096.
    open.leaderFees += priority + (meta.fee - priority) / 2n;
    state.statuses.add(transaction, open.header.slot, meta.err);
  }

  /** An announced transaction has an entry whether or not it runs. */
  #leaveOut(recorded: RecordedEntry | undefined): void {
    const { entries, header } = this.#open;
    if (recorded !== undefined) this.#parts.events.entry(header.slot, entries.refuse(recorded));
  }
}
