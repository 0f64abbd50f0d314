import type { Commitment } from '../../../../src/protocol/commitment.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { feeOf } from '../../../../src/solana/transaction/compute-budget.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import { type Lamports, type Slot, slot } from '../../../../src/solana/units.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { EpochTurn } from '../epoch-rewards/epoch-turn.ts';
import { shredVersion } from '../genesis/shred-version.ts';
import { blockOf, type SlotHeader, type SlotRecord } from '../history/slot-record.ts';
import { BATCH_MAX_BYTES, BroadcastStage, ENTRY_BYTES, inBatches } from '../network/broadcast-stage.ts';
import type { SendShreds } from '../network/shred-sender.ts';
import type {
  Airdropped,
  Bank,
  Genesis,
  History,
  LocalNode,
  Sent,
  SignatureStatus,
  SimulateOptions,
  Simulation,
} from '../node.ts';
import type { AccountsStore } from './accounts-store.ts';
import { type BankSources, FrozenBank } from './bank.ts';
import { type BankingResult, BankingStage } from './banking-stage.ts';
import { faucetTransfer } from './faucet.ts';
import { type FollowFrom, LedgerEvents } from './ledger-events.ts';
import {
  INTAKE_MAX_TRANSACTIONS,
  LedgerHaltedError,
  type LedgerOptions,
  type LedgerState,
  WAITING_MAX_TRANSACTIONS,
} from './ledger-state.ts';
import { OpenSlotState } from './open-slot-state.ts';
import { WaitingTransactions } from './pending-transactions.ts';
import { simulateTransaction } from './simulate-transaction.ts';
import { BLOCK_COST_MAX, lastTipFor } from './transaction-checks.ts';
import { Intake, type IntakeStages } from './transaction-intake.ts';
import { Vm } from './vm.ts';

/** Slots by which commitments trail the tip. */
const CONFIRMED_LAG = 1;
export const FINALIZED_LAG = 31;

export type Frozen = Readonly<{ block: Block; bank: Bank; accounts: SlotRecord['accounts'] }>;

/** Embedded ledger: one fork, one open slot, advanced by `freeze`. */
export class EmbeddedLedger implements LocalNode {
  readonly genesis: Genesis;
  readonly history: History;
  readonly #state: LedgerState;
  readonly #options: Required<Omit<LedgerOptions, 'sendShreds' | 'shredLeadMs'>>;
  readonly #sources: BankSources;
  /** A separate VM, since simulations run on older states. */
  readonly #simulationVm = new Vm();
  readonly #banks = new Map<number, FrozenBank>();
  readonly #listeners = new Set<(frozen: Frozen) => void>();
  readonly #events: LedgerEvents;
  readonly #waiting: WaitingTransactions;
  readonly #epochTurn: EpochTurn;
  readonly #banking: BankingStage;
  /** Both null without shreds. */
  readonly #broadcast: BroadcastStage | null;
  readonly #intake: Intake | null;
  #tip: SlotHeader;
  #finalized = 0;
  #failure: Error | null = null;

  constructor(state: LedgerState, options: LedgerOptions = {}) {
    this.genesis = state.genesis;
    this.history = state.blocks;
    this.#state = state;
    const { now = Date.now, blockCostMax = BLOCK_COST_MAX } = options;
    const { waitingMaxTransactions = WAITING_MAX_TRANSACTIONS } = options;
    this.#options = { now, blockCostMax, waitingMaxTransactions };
    this.#waiting = new WaitingTransactions(waitingMaxTransactions);
    this.#epochTurn = new EpochTurn(state.genesis);
    this.#broadcast = this.#newBroadcast(options.sendShreds);
    this.#intake =
      this.#broadcast === null ? null : this.#newIntake(this.#broadcast, options.shredLeadMs ?? 0);
    const { epochSchedule, voteAccount } = state.genesis;
    this.#sources = { ...state, epochSchedule, voteAccount };
    for (const { header, accountLamports } of state.frozen) {
      this.#banks.set(header.slot, new FrozenBank(header, accountLamports, this.#sources));
    }
    this.#tip = (state.frozen.at(-1) as LedgerState['frozen'][number]).header;
    this.#root();
    this.#events = new LedgerEvents(state.voter, state.genesis.ticksPerSlot, this.#reached, now);
    const parts = { state, events: this.#events, broadcast: this.#broadcast, blockCostMax };
    this.#banking = new BankingStage(this.#openNext(), parts);
    this.#turnEpoch();
  }

  get #open(): OpenSlotState {
    return this.#banking.open;
  }

  get durableSlot(): Slot {
    return slot(this.#state.blocks.durableSlot);
  }

  get failure(): Error | null {
    return this.#failure ?? this.#state.blocks.failure;
  }

  get store(): AccountsStore {
    return this.#state.store;
  }

  get finalizedSlot(): number {
    this.#root();
    return this.#finalized;
  }

  bank(commitment: Commitment): FrozenBank {
    if (commitment === 'processed') return this.#bankAt(this.#tip.slot);
    return this.#bankAt(commitment === 'confirmed' ? this.#reached.confirmed : this.finalizedSlot);
  }

  snapshotSlot(): Slot | null {
    const at = this.#state.snapshotSlot();
    return at === null ? null : slot(at);
  }

  recentStatus(signature: Signature): SignatureStatus | null {
    const entry = this.#state.statuses.get(signature);
    if (entry === undefined || entry.slot > this.#tip.slot) return null;
    return { slot: slot(entry.slot), err: entry.err };
  }

  simulate(transaction: Transaction, bank: Bank, options: SimulateOptions): Simulation {
    const { recentBlocks, statuses } = this.#state;
    const frozen = this.#bankAt(Number(bank.slot));
    return simulateTransaction(transaction, frozen, options, {
      vm: this.#simulationVm,
      recentBlocks,
      statuses,
    });
  }

  submit(transaction: Transaction): TransactionError | null {
    this.#intake?.drain();
    if (this.#banking.mayRun(transaction)) this.#broadcast?.announce(this.#open, [transaction]);
    const taken = this.#take(transaction);
    this.#broadcast?.settle();
    return 'err' in taken ? taken.err : 'WouldExceedMaxBlockCostLimit';
  }

  send(transaction: Transaction, maxRetries?: bigint): Sent | Promise<Sent> {
    const [signature] = transaction.signatures;
    if (signature === undefined || this.#isOnItsWay(signature)) return 'taken';
    const run = () => this.#run(signature, transaction, maxRetries);
    if (this.#intake === null) return run();
    this.#requireRunning();
    return this.#intake.isFull ? 'queue full' : this.#intake.add(signature, transaction, run);
  }

  #run(signature: Signature, transaction: Transaction, maxRetries: bigint | undefined): Sent {
    const taken = this.#take(transaction);
    if ('err' in taken || maxRetries === 0n) return 'taken';
    const retriesLeft = maxRetries ?? null;
    const lastTip = lastTipFor(transaction, this.#tip.slot, this.#state.recentBlocks);
    const entry = { transaction, cost: taken.missingCost, lastTip, retriesLeft };
    return this.#waiting.add(signature, entry) ? 'taken' : 'queue full';
  }

  #isOnItsWay(signature: Signature): boolean {
    return this.#waiting.has(signature) || this.#intake?.has(signature) === true;
  }

  /** Runs pending transactions of the open slot now. */
  drain(): void {
    this.#intake?.drain();
  }

  /** Signed, but not sent. */
  signAirdrop(to: Address, amount: Lamports, recentBlockhash: Blockhash): Transaction {
    return faucetTransfer(this.#state.faucet, to, amount, recentBlockhash);
  }

  airdrop(to: Address, amount: Lamports, recentBlockhash?: Blockhash): Airdropped | Promise<Airdropped> {
    const transaction = this.#airdropTransaction(to, amount, recentBlockhash);
    const available = this.#state.store.newest(this.genesis.faucet)?.lamports ?? 0n;
    if (available < amount + feeOf(transaction.message)) return 'insufficient';
    // The outcome is visible in the transaction's status only, as with Agave's faucet.
    const answer = (sent: Sent): Airdropped =>
      sent === 'queue full' ? sent : (transaction.signatures[0] as Signature);
    const sent = this.send(transaction);
    return typeof sent === 'string' ? answer(sent) : sent.then(answer);
  }

  /** @returns a function that removes the listener. */
  onFrozen(listener: (frozen: Frozen) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Reports slots above the root first, then all events in order. A listener that throws halts the ledger.
   * @param from - `root` includes the newest rooted slot; a number includes as many. Default `above root`.
   * @returns a function that removes the listener.
   */
  follow(listener: (event: LedgerEvent) => void, from: FollowFrom = 'above root'): () => void {
    const past = { blocks: this.#state.blocks, banks: this.#banks };
    return this.#events.follow(listener, past, this.#open, from);
  }

  /**
   * Freezes the open slot, which becomes `processed`, and opens the next, which retries waiting
   * transactions.
   * @throws errors of the block store; then nothing is frozen and the ledger halts.
   */
  freeze(): Bank {
    return this.#end(() => this.drain());
  }

  /** Calls back when all announced transactions have run, so that `endSlot` shortens no lead. */
  whenRun(then: () => void): void {
    if (this.#intake === null) then();
    else this.#intake.whenRun(then);
  }

  /** As `freeze`, but leaves transactions that were not announced for the next slot. */
  endSlot(): Bank {
    return this.#end(() => {});
  }

  #end(drain: () => void): Bank {
    this.#requireRunning();
    try {
      drain();
      const frozen = this.#freeze();
      for (const listener of this.#listeners) listener(frozen);
      this.#retryWaiting();
      return frozen.bank;
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #fail(cause: unknown): Error {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    this.#failure ??= error;
    return error;
  }

  #freeze(): Frozen {
    const { blocks, recentBlocks, statuses, store } = this.#state;
    const record = this.#banking.seal();
    blocks.append(record);
    const { header } = record;
    recentBlocks.push({ slot: header.slot, blockhash: header.blockhash, time: header.blockTime });
    const bank = new FrozenBank(header, store.capitalization, this.#sources);
    this.#banks.set(header.slot, bank);
    this.#tip = header;
    this.#root();
    statuses.expire(header.slot);
    const block = blockOf(record);
    this.#events.frozen(record, block, bank, this.#reached);
    this.#banking.startSlot(this.#openNext());
    this.#events.created(this.#open.header.slot);
    this.#turnEpoch();
    return { block, bank, accounts: record.accounts };
  }

  get #reached(): Readonly<{ confirmed: number; rooted: number }> {
    const rooted = this.#finalized;
    return { confirmed: Math.max(this.#tip.slot - CONFIRMED_LAG, rooted), rooted };
  }

  #requireRunning(): void {
    const { failure } = this;
    if (failure !== null) throw new LedgerHaltedError(failure);
  }

  #bankAt(at: number): FrozenBank {
    const bank = this.#banks.get(at);
    if (bank === undefined) throw new RangeError(`the state of slot ${at} has been pruned`);
    return bank;
  }

  /** Advances the finalized slot as far as depth and disk allow, and prunes below it. */
  #root(): void {
    const reached = Math.min(this.#tip.slot - FINALIZED_LAG, this.#state.blocks.durableSlot);
    const oldest = this.#banks.keys().next().value ?? 0;
    const finalized = Math.max(this.#finalized, reached, oldest);
    if (finalized === this.#finalized) return;
    this.#finalized = finalized;
    for (const at of this.#banks.keys()) {
      if (at >= finalized) break;
      this.#banks.delete(at);
    }
    this.#state.store.prune(finalized);
  }

  #openNext(): OpenSlotState {
    const number = this.#tip.slot + 1;
    const blockTime = Math.max(this.#tip.blockTime, Math.floor(this.#options.now() / 1000));
    const isFirstOfEpoch = BigInt(number) % this.genesis.epochSchedule.slotsPerEpoch === 0n;
    const epochStartTime = isFirstOfEpoch ? blockTime : this.#tip.epochStartTime;
    return new OpenSlotState({ slot: number, blockTime, epochStartTime }, this.#tip, this.#sources);
  }

  /** Work before the first transaction of a slot. */
  #turnEpoch(): void {
    const open = this.#open;
    const opening = this.#epochTurn.open(open.header.slot, this.#bankAt(this.#tip.slot));
    for (const [address, account] of opening.writes) this.#banking.write(address, account, null);
    open.rewards.push(...opening.rewards);
    open.numRewardPartitions = opening.numRewardPartitions;
  }

  #newBroadcast(send: SendShreds | undefined): BroadcastStage | null {
    if (send === undefined) return null;
    const version = shredVersion(this.genesis.hash);
    return new BroadcastStage({ leader: this.#state.voter.identity, version, send });
  }

  #newIntake(broadcast: BroadcastStage, leadMs: number): Intake {
    const stages: IntakeStages = {
      mayRun: (transaction) => this.failure === null && this.#banking.mayRun(transaction),
      announce: (transactions) => broadcast.announce(this.#open, transactions),
      settle: () => broadcast.settle(),
    };
    return new Intake(stages, {
      transactionsMax: INTAKE_MAX_TRANSACTIONS,
      batchMaxBytes: BATCH_MAX_BYTES,
      overheadBytes: ENTRY_BYTES,
      leadMs,
    });
  }

  /** @throws LedgerHaltedError */
  #take(transaction: Transaction, isNew = true): BankingResult {
    this.#requireRunning();
    return this.#banking.take(transaction, isNew);
  }

  #retryWaiting(): void {
    const sent = this.#announceWaiting();
    if (this.#intake === null || sent === null) this.#offerWaiting(null);
    else if (sent.size > 0) this.#intake.hold(() => this.#tryOfferWaiting(sent));
    else this.#offerWaiting(sent);
  }

  #tryOfferWaiting(sent: ReadonlySet<Transaction>): void {
    try {
      this.#offerWaiting(sent);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Skips transactions that do not fit by their last known cost. */
  #offerWaiting(sent: ReadonlySet<Transaction> | null): void {
    this.#waiting.offer(this.#tip.slot, (transaction, cost) => {
      if (cost > this.#banking.remainingCost || sent?.has(transaction) === false) return cost;
      const taken = this.#take(transaction, false);
      return 'err' in taken ? null : taken.missingCost;
    });
  }

  /** @returns transactions to retry in this slot; null for all, without shreds. */
  #announceWaiting(): ReadonlySet<Transaction> | null {
    const broadcast = this.#broadcast;
    if (broadcast === null) return null;
    const fitting = this.#waiting.fitting(this.#tip.slot, this.#banking.remainingCost);
    const able = fitting.filter((transaction) => this.#banking.mayRun(transaction));
    for (const batch of inBatches(able)) broadcast.announce(this.#open, batch);
    return new Set(fitting);
  }

  /** Without a blockhash, an older one makes equal airdrops distinct. */
  #airdropTransaction(to: Address, amount: Lamports, recentBlockhash?: Blockhash): Transaction {
    const { faucet, recentBlocks, statuses } = this.#state;
    const newest = recentBlocks.newest;
    if (recentBlockhash !== undefined) return faucetTransfer(faucet, to, amount, recentBlockhash);
    for (const { blockhash } of recentBlocks.downFrom(newest.slot, 100)) {
      const transaction = faucetTransfer(faucet, to, amount, blockhash);
      const isSent = this.#isOnItsWay(transaction.signatures[0] as Signature);
      if (!isSent && statuses.slotOf(transaction) === undefined) return transaction;
    }
    return faucetTransfer(faucet, to, amount, newest.blockhash);
  }
}
