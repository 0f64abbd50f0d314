import type { Commitment } from '../../../../src/protocol/commitment.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { feeOf } from '../../../../src/solana/transaction/compute-budget.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import { type Lamports, type Slot, slot } from '../../../../src/solana/units.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { EpochBoundary } from '../epoch-rewards/epoch-boundary.ts';
import { shredVersion } from '../genesis/shred-version.ts';
import { blockOf, type SlotHeader, type SlotRecord } from '../history/slot-record.ts';
import { BATCH_MAX_BYTES, BroadcastStage, ENTRY_BYTES, inBatches } from '../network/broadcast-stage.ts';
import type { SendShreds } from '../network/shred-sender.ts';
import type {
  AirdropResult,
  Bank,
  Genesis,
  History,
  LocalNode,
  SendResult,
  SignatureStatus,
  SimulateOptions,
  Simulation,
} from '../node.ts';
import type { AccountsStore } from './accounts-store.ts';
import { type BankSources, FrozenBank } from './bank.ts';
import { type BankingResult, BankingStage, type TransactionSource } from './banking-stage.ts';
import { faucetTransfer } from './faucet.ts';
import { LedgerClock } from './ledger-clock.ts';
import { type FollowFrom, LedgerEvents } from './ledger-events.ts';
import {
  INTAKE_MAX_TRANSACTIONS,
  LedgerHaltedError,
  type LedgerOptions,
  type LedgerState,
  WAITING_MAX_TRANSACTIONS,
} from './ledger-state.ts';
import { nodeVote } from './node-vote.ts';
import { OpenSlotState } from './open-slot-state.ts';
import { WaitingTransactions } from './pending-transactions.ts';
import { simulateTransaction } from './simulate-transaction.ts';
import { BLOCK_COST_MAX, lastTipFor } from './transaction-checks.ts';
import { type IntakeStages, TransactionIntake } from './transaction-intake.ts';
import { Vm } from './vm.ts';

/** Slots by which commitments trail the tip. */
const CONFIRMED_LAG = 1;
export const FINALIZED_LAG = 31;

export type FrozenSlot = Readonly<{ block: Block; bank: Bank; accounts: SlotRecord['accounts'] }>;

/** Embedded ledger: one fork, one open slot, advanced by `freeze`. */
export class EmbeddedLedger implements LocalNode {
  readonly genesis: Genesis;
  readonly history: History;
  /** Time of the blocks; events have that of the system. */
  readonly clock: LedgerClock;
  readonly #state: LedgerState;
  readonly #sources: BankSources;
  /** A separate VM, since simulations run on older states. */
  readonly #simulationVm = new Vm();
  readonly #banks = new Map<number, FrozenBank>();
  readonly #listeners = new Set<(frozen: FrozenSlot) => void>();
  readonly #events: LedgerEvents;
  readonly #waiting: WaitingTransactions;
  readonly #epochBoundary: EpochBoundary;
  readonly #banking: BankingStage;
  /** Both are null if no shreds are sent. */
  readonly #broadcast: BroadcastStage | null;
  readonly #intake: TransactionIntake | null;
  #tip: SlotHeader;
  #finalized = 0;
  #failure: Error | null = null;

  constructor(state: LedgerState, options: LedgerOptions = {}) {
    this.genesis = state.genesis;
    this.history = state.blocks;
    this.#state = state;
    const { now = Date.now, blockCostMax = BLOCK_COST_MAX } = options;
    const { waitingMaxTransactions = WAITING_MAX_TRANSACTIONS } = options;
    this.#waiting = new WaitingTransactions(waitingMaxTransactions);
    this.#epochBoundary = new EpochBoundary(state.genesis);
    this.#broadcast = this.#newBroadcast(options.sendShreds);
    this.#intake =
      this.#broadcast === null ? null : this.#newIntake(this.#broadcast, options.shredLeadMs ?? 0);
    this.#sources = { ...state, epochSchedule: state.genesis.epochSchedule };
    for (const { header, accountLamports } of state.frozen) {
      this.#banks.set(header.slot, new FrozenBank(header, accountLamports, this.#sources));
    }
    this.#tip = (state.frozen.at(-1) as LedgerState['frozen'][number]).header;
    this.clock = new LedgerClock(now, this.#tip.blockTime * 1000);
    this.#advanceRoot();
    this.#events = new LedgerEvents(state.genesis.ticksPerSlot, this.#commitmentSlots, now);
    const parts = { state, events: this.#events, broadcast: this.#broadcast, blockCostMax };
    this.#banking = new BankingStage(this.#openNext(), parts);
    this.#processEpochBoundary();
    this.#vote();
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
    this.#advanceRoot();
    return this.#finalized;
  }

  bank(commitment: Commitment): FrozenBank {
    if (commitment === 'processed') return this.#bankAt(this.#tip.slot);
    return this.#bankAt(commitment === 'confirmed' ? this.#commitmentSlots.confirmed : this.finalizedSlot);
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
    this.#intake?.executePending();
    const result = this.#executeNow(transaction, 'client');
    return 'err' in result ? result.err : 'WouldExceedMaxBlockCostLimit';
  }

  #executeNow(transaction: Transaction, source: 'client' | 'node'): BankingResult {
    if (this.#banking.canExecute(transaction)) this.#broadcast?.announce(this.#open, [transaction]);
    const result = this.#process(transaction, source);
    this.#broadcast?.sendDeferred();
    return result;
  }

  send(transaction: Transaction, maxRetries?: bigint): SendResult | Promise<SendResult> {
    const [signature] = transaction.signatures;
    if (signature === undefined || this.#isPending(signature)) return 'taken';
    const run = () => this.#run(signature, transaction, maxRetries);
    if (this.#intake === null) return run();
    this.#requireRunning();
    return this.#intake.isFull ? 'queue full' : this.#intake.add(signature, transaction, run);
  }

  #run(signature: Signature, transaction: Transaction, maxRetries: bigint | undefined): SendResult {
    const result = this.#process(transaction, 'client');
    if ('err' in result || maxRetries === 0n) return 'taken';
    const retriesLeft = maxRetries ?? null;
    const lastTip = lastTipFor(transaction, this.#tip.slot, this.#state.recentBlocks);
    const entry = { transaction, cost: result.missingCost, lastTip, retriesLeft };
    return this.#waiting.add(signature, entry) ? 'taken' : 'queue full';
  }

  #isPending(signature: Signature): boolean {
    return this.#waiting.has(signature) || this.#intake?.has(signature) === true;
  }

  /** Executes the pending transactions of the open slot now. */
  executePending(): void {
    this.#intake?.executePending();
  }

  /** State of the open slot. */
  newestAccount(address: Address): Account | null {
    return this.#state.store.newest(address);
  }

  /** State of the open slot, unordered, without the sysvars that follow from the chain. */
  newestAccounts(): Iterable<readonly [Address, Account]> {
    return this.#state.store.entries(this.#open.header.slot);
  }

  /**
   * Writes accounts in the open slot, after its transactions. null removes an account.
   * @throws LedgerHaltedError
   */
  writeAccounts(changes: Iterable<readonly [Address, Account | null]>): void {
    this.#requireRunning();
    this.executePending();
    for (const [address, account] of changes) this.#banking.write(address, account, null);
  }

  /** Signs an airdrop without sending it. */
  signAirdrop(to: Address, amount: Lamports, recentBlockhash: Blockhash): Transaction {
    return faucetTransfer(this.#state.faucet, to, amount, recentBlockhash);
  }

  airdrop(
    to: Address,
    amount: Lamports,
    recentBlockhash?: Blockhash,
  ): AirdropResult | Promise<AirdropResult> {
    const transaction = this.#airdropTransaction(to, amount, recentBlockhash);
    const available = this.#state.store.newest(this.genesis.faucet)?.lamports ?? 0n;
    if (available < amount + feeOf(transaction.message)) return 'insufficient';
    // The outcome is visible in the transaction's status only, as with Agave's faucet.
    const toResult = (sent: SendResult): AirdropResult =>
      sent === 'queue full' ? sent : (transaction.signatures[0] as Signature);
    const sent = this.send(transaction);
    return typeof sent === 'string' ? toResult(sent) : sent.then(toResult);
  }

  /**
   * Writes accounts that were there before, so that older states have them too. Their addresses must have no account.
   * @throws LedgerHaltedError
   */
  importAccounts(accounts: readonly (readonly [Address, Account])[]): void {
    this.#requireRunning();
    for (const [address, account] of accounts) {
      this.#state.store.import(address, account);
      this.#banking.write(address, account, null);
    }
  }

  get openSlot(): number {
    return this.#open.header.slot;
  }

  /** Oldest readable state. */
  get oldestSlot(): number {
    return this.#banks.keys().next().value ?? 0;
  }

  /** @returns a function that removes the listener. */
  onFrozen(listener: (frozen: FrozenSlot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Replays the slots above the root to the listener, then reports all events in order. If the listener
   * throws, the ledger halts.
   * @param from - `root` also replays the newest rooted slot; a number, that many rooted slots.
   * @returns a function that removes the listener.
   */
  follow(listener: (event: LedgerEvent) => void, from: FollowFrom = 'above root'): () => void {
    const past = { blocks: this.#state.blocks, banks: this.#banks };
    return this.#events.follow(listener, past, this.#open, from);
  }

  /**
   * Freezes the open slot, which becomes `processed`, opens the next one and retries waiting transactions in
   * it.
   * @throws errors of the block store. Then the slot is not frozen and the ledger halts.
   */
  freeze(): Bank {
    return this.#end(() => this.executePending());
  }

  /** Calls back when all announced transactions have been executed, so that `endSlot` does not run one too early. */
  afterPendingExecuted(then: () => void): void {
    if (this.#intake === null) then();
    else this.#intake.afterPendingExecuted(then);
  }

  /** Like `freeze`, but transactions that were not announced move to the next slot. */
  endSlot(): Bank {
    return this.#end(() => {});
  }

  #end(drain: () => void): Bank {
    this.#requireRunning();
    try {
      drain();
      const frozen = this.#freeze();
      for (const listener of this.#listeners) listener(frozen);
      this.#vote();
      this.#retryWaiting();
      return frozen.bank;
    } catch (error) {
      throw this.#halt(error);
    }
  }

  #halt(cause: unknown): Error {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    this.#failure ??= error;
    return error;
  }

  #freeze(): FrozenSlot {
    const { blocks, recentBlocks, statuses, store } = this.#state;
    const record = this.#banking.finishSlot();
    blocks.append(record);
    const { header } = record;
    recentBlocks.push(header);
    const bank = new FrozenBank(header, store.capitalization, this.#sources);
    this.#banks.set(header.slot, bank);
    this.#tip = header;
    this.#advanceRoot();
    statuses.expire(header.slot);
    const block = blockOf(record);
    this.#events.frozen(record, block, bank, this.#commitmentSlots);
    this.#banking.startSlot(this.#openNext());
    this.#events.created(this.#open.header.slot);
    this.#processEpochBoundary();
    return { block, bank, accounts: record.accounts };
  }

  get #commitmentSlots(): Readonly<{ confirmed: number; rooted: number }> {
    const rooted = this.#finalized;
    return { confirmed: Math.max(this.#tip.slot - CONFIRMED_LAG, rooted), rooted };
  }

  #requireRunning(): void {
    const { failure } = this;
    if (failure !== null) throw new LedgerHaltedError(failure);
  }

  #bankAt(at: number): FrozenBank {
    const bank = this.#banks.get(at);
    if (bank === undefined) throw new RangeError(`state of slot ${at} has been pruned`);
    return bank;
  }

  /** Advances the finalized slot up to the durable slot and at most 31 below the tip; prunes older states. */
  #advanceRoot(): void {
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
    const blockTime = Math.max(this.#tip.blockTime, Math.floor(this.clock.now() / 1000));
    const isFirstOfEpoch = BigInt(number) % this.genesis.epochSchedule.slotsPerEpoch === 0n;
    const epochStartTime = isFirstOfEpoch ? blockTime : this.#tip.epochStartTime;
    return new OpenSlotState({ slot: number, blockTime, epochStartTime }, this.#tip, this.#sources);
  }

  /** Runs before the first transaction of a slot. */
  #processEpochBoundary(): void {
    const open = this.#open;
    const opening = this.#epochBoundary.openSlot(open.header.slot, this.#bankAt(this.#tip.slot));
    for (const [address, account] of opening.writes) this.#banking.write(address, account, null);
    open.rewards.push(...opening.rewards);
    open.numRewardPartitions = opening.numRewardPartitions;
  }

  /** Votes for the newest frozen slot in the open one, if the node can: it may lack lamports or its vote account. */
  #vote(): void {
    const { voter, store } = this.#state;
    const stored = store.newest(voter.vote.address);
    const vote = nodeVote(voter, this.#tip, stored, this.#open.view.clock.epoch);
    if (vote === null) return;
    const result = this.#executeNow(vote.transaction, 'node');
    if ('err' in result && result.err === null) this.#events.vote(vote.gossip);
  }

  #newBroadcast(send: SendShreds | undefined): BroadcastStage | null {
    if (send === undefined) return null;
    const version = shredVersion(this.genesis.hash);
    return new BroadcastStage({ leader: this.#state.voter.identity, version, send });
  }

  #newIntake(broadcast: BroadcastStage, leadMs: number): TransactionIntake {
    const stages: IntakeStages = {
      canExecute: (transaction) => this.failure === null && this.#banking.canExecute(transaction),
      announce: (transactions) => broadcast.announce(this.#open, transactions),
      sendDeferred: () => broadcast.sendDeferred(),
    };
    return new TransactionIntake(stages, {
      transactionsMax: INTAKE_MAX_TRANSACTIONS,
      batchMaxBytes: BATCH_MAX_BYTES,
      overheadBytes: ENTRY_BYTES,
      leadMs,
    });
  }

  /** @throws LedgerHaltedError */
  #process(transaction: Transaction, source: TransactionSource): BankingResult {
    this.#requireRunning();
    return this.#banking.process(transaction, source);
  }

  #retryWaiting(): void {
    const sent = this.#announceWaiting();
    if (this.#intake === null || sent === null) this.#offerWaiting(null);
    else if (sent.size > 0) this.#intake.scheduleAnnounced(() => this.#tryOfferWaiting(sent));
    else this.#offerWaiting(sent);
  }

  #tryOfferWaiting(sent: ReadonlySet<Transaction>): void {
    try {
      this.#offerWaiting(sent);
    } catch (error) {
      this.#halt(error);
    }
  }

  /** Retries waiting transactions; skips those whose last known cost exceeds the remaining capacity. */
  #offerWaiting(sent: ReadonlySet<Transaction> | null): void {
    this.#waiting.offer(this.#tip.slot, (transaction, cost) => {
      if (cost > this.#banking.remainingCost || sent?.has(transaction) === false) return cost;
      const result = this.#process(transaction, 'retry');
      return 'err' in result ? null : result.missingCost;
    });
  }

  /** @returns transactions to retry in this slot; null if no shreds are sent: retry all. */
  #announceWaiting(): ReadonlySet<Transaction> | null {
    const broadcast = this.#broadcast;
    if (broadcast === null) return null;
    const fitting = this.#waiting.fitting(this.#tip.slot, this.#banking.remainingCost);
    const executable = fitting.filter((transaction) => this.#banking.canExecute(transaction));
    for (const batch of inBatches(executable)) broadcast.announce(this.#open, batch);
    return new Set(fitting);
  }

  /** Without a given blockhash, identical airdrops get different blockhashes, so that none is a duplicate. */
  #airdropTransaction(to: Address, amount: Lamports, recentBlockhash?: Blockhash): Transaction {
    const { faucet, recentBlocks, statuses } = this.#state;
    const newest = recentBlocks.newest;
    if (recentBlockhash !== undefined) return faucetTransfer(faucet, to, amount, recentBlockhash);
    for (const { blockhash } of recentBlocks.downFrom(newest.slot, 100)) {
      const transaction = faucetTransfer(faucet, to, amount, blockhash);
      const isSent = this.#isPending(transaction.signatures[0] as Signature);
      if (!isSent && statuses.slotOf(transaction) === undefined) return transaction;
    }
    return faucetTransfer(faucet, to, amount, newest.blockhash);
  }
}
