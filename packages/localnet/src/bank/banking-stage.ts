import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { verifyTransaction } from '../../../../src/solana/ed25519.ts';
import { priorityFeeOf } from '../../../../src/solana/transaction/compute-budget.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import type { SlotRecord } from '../history/slot-record.ts';
import type { BroadcastStage } from '../network/broadcast-stage.ts';
import {
  type Execution,
  executeTransaction,
  feePaymentError,
  type Rejection,
} from './execute-transaction.ts';
import type { LedgerEvents } from './ledger-events.ts';
import type { LedgerState } from './ledger-state.ts';
import type { OpenSlotState } from './open-slot-state.ts';
import { mixinOf, type RecordedEntry, type SlotEntry } from './slot-entries.ts';
import { ageOfTransaction, type TransactionAge } from './transaction-checks.ts';
import { Vm } from './vm.ts';

/** Error of a rejected or failed transaction, or the missing block capacity. */
export type BankingResult = Readonly<{ err: TransactionError | null } | { missingCost: bigint }>;

export type TransactionSource = 'client' | 'node' | 'retry';

type BankingStageOptions = Readonly<{
  state: Pick<LedgerState, 'genesis' | 'recentBlocks' | 'statuses'>;
  events: LedgerEvents;
  /** null if the ledger sends no shreds. */
  broadcast: BroadcastStage | null;
  /** Cost units per slot. */
  blockCostMax: bigint;
}>;

/** Executes transactions in the open slot. */
export class BankingStage {
  readonly #options: BankingStageOptions;
  readonly #vm = new Vm();
  #open: OpenSlotState;

  constructor(open: OpenSlotState, options: BankingStageOptions) {
    this.#open = open;
    this.#options = options;
  }

  get open(): OpenSlotState {
    return this.#open;
  }

  startSlot(open: OpenSlotState): void {
    this.#open = open;
  }

  get remainingCost(): bigint {
    return this.#options.blockCostMax - this.#open.cost;
  }

  /** Whether a transaction may be announced: its fee can be charged and its shreds fit into the slot. */
  canExecute(transaction: Transaction): boolean {
    const { broadcast, state } = this.#options;
    const { header, view } = this.#open;
    if (broadcast?.hasCapacity(header.slot, state.genesis.ticksPerSlot) !== true) return false;
    if (!verifyTransaction(transaction)) return false;
    return 'nonce' in this.#checkAgeAndStatus(transaction) && feePaymentError(transaction, view) === null;
  }

  /**
   * Executes and commits a transaction.
   * @param source - `retry` if it was received before; `node` if the node signed it.
   */
  process(transaction: Transaction, source: TransactionSource): BankingResult {
    const { events, broadcast } = this.#options;
    const recorded = broadcast?.takeEntry(transaction);
    const execution = this.#execute(transaction, recorded !== undefined || source === 'node');
    if ('rejected' in execution) {
      this.#addRejectedEntry(recorded);
      return { err: execution.rejected };
    }
    if (source === 'client') events.received(transaction.signatures[0], this.#open.header.slot);
    const { err, costUnits } = execution.meta;
    // If shreds are sent, only announced transactions are committed.
    const isUnsent = broadcast !== null && recorded === undefined;
    if (isUnsent || costUnits > this.remainingCost) {
      this.#addRejectedEntry(recorded);
      return { missingCost: costUnits };
    }
    this.#commit(transaction, execution, recorded ?? this.#open.entries.record(mixinOf(transaction)));
    return { err };
  }

  /** @param by - transaction that wrote the account; null for writes outside of transactions. */
  write(address: Address, account: Account | null, by: Transaction | null): void {
    const open = this.#open;
    const writer = open.write(address, account, by === null ? null : open.transactions.length);
    this.#options.events.account(open.header.slot, [address, account], writer, by?.signatures[0] ?? null);
  }

  /** Pays the leader and completes the slot with its last tick. */
  finishSlot(): SlotRecord {
    const { state, events, broadcast } = this.#options;
    const { identity, ticksPerSlot } = state.genesis;
    const open = this.#open;
    const leader = open.payLeader(identity);
    if (leader !== null) this.write(identity, leader, null);
    const ticks = open.entries.tick(ticksPerSlot);
    for (const tick of ticks) events.entry(open.header.slot, tick);
    broadcast?.endSlot(open.header.slot, ticks);
    return open.toRecord((ticks.at(-1) as SlotEntry).hash);
  }

  #checkAgeAndStatus(transaction: Transaction): TransactionAge | Rejection {
    const { recentBlocks, statuses } = this.#options.state;
    const { header, view } = this.#open;
    const age = ageOfTransaction(transaction, header.slot - 1, recentBlocks, view);
    if (age === null) return { rejected: 'BlockhashNotFound' };
    return statuses.slotOf(transaction) === undefined ? age : { rejected: 'AlreadyProcessed' };
  }

  #execute(transaction: Transaction, isVerified: boolean): Execution | Rejection {
    if (!isVerified && !verifyTransaction(transaction)) return { rejected: 'SignatureFailure' };
    const age = this.#checkAgeAndStatus(transaction);
    if ('rejected' in age) return age;
    return executeTransaction(transaction, age.nonce, this.#open.view, this.#vm);
  }

  #commit(transaction: Transaction, { meta, writes }: Execution, recorded: RecordedEntry): void {
    const open = this.#open;
    const { events, state } = this.#options;
    for (const [address, account] of writes) this.write(address, account, transaction);
    const executed = { transaction, meta };
    events.transaction(open.header.slot, open.transactions.length, executed);
    open.transactions.push(executed);
    events.entry(open.header.slot, open.entries.addExecuted(recorded));
    open.cost += meta.costUnits;
    const priority = priorityFeeOf(transaction.message);
    // Half of the signature fees is burnt, the rest goes to the leader. Source: SIMD-0096.
    open.leaderFees += priority + (meta.fee - priority) / 2n;
    state.statuses.add(transaction, open.header.slot, meta.err);
  }

  /** An announced transaction keeps its entry even if it is rejected. */
  #addRejectedEntry(recorded: RecordedEntry | undefined): void {
    const { entries, header } = this.#open;
    if (recorded !== undefined) this.#options.events.entry(header.slot, entries.addRejected(recorded));
  }
}
