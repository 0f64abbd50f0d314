import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Block } from '../../solana/block.ts';
import type { Signature } from '../../solana/signature.ts';
import { isSimpleVote } from '../../solana/transaction/simple-vote.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import { LedgerNotifier } from '../../streams/ledger-notifier.ts';
import { TransactionNotification } from '../../streams/notifier/transaction-notification.ts';
import { TransactionWatchers } from '../../streams/notifier/transaction-watchers.ts';
import { type ChainReader, type HistoryCommitment, ReadError } from './chain-reader.ts';
import type { FeedLimits } from './limits.ts';

/** Which transactions a feed told, for whoever goes on behind it. Stays as it is when the feed tells more. */
export interface EmittedTransactions {
  /** The newest slot of which anything was told; null for none. */
  readonly newest: Slot | null;
  /** All that is in slots up to this one was told at the commitment, or is older than the feed; null for nothing. */
  upTo(commitment: Commitment): Slot | null;
  /** Whether a transaction of a block was told at the commitment. */
  has(commitment: Commitment, slot: Slot, signature: Signature): boolean;
}

export type BlockSubscription = SubscriptionOf<'block'> | SubscriptionOf<'transaction'>;

export type BlockStreamOptions = Readonly<{
  network: Network;
  commitment: HistoryCommitment;
  reader: ChainReader;
  limits: FeedLimits;
  log: Logger;
}>;

type Watcher = { readonly listener: FeedListener; end: () => void };

/** What another feed told of a subscription before it came here. */
type ResumePoint = Readonly<{
  emitted: EmittedTransactions;
  /** Nothing in slots up to this one is owed. */
  notBefore: Slot;
}>;

/** A subscription of which another feed told a part; it joins the others behind all that was told. */
type ResumedSubscription = ResumePoint &
  Readonly<{ subscription: SubscriptionOf<'transaction'>; watcher: Watcher }>;

/** Slots that are looked at together. */
const STRIDE = 50n;
/** So many blocks in them, and there may be more behind. */
const FULL_STRIDE_BLOCKS = 10;
/** A node may lack a block for some slots; beyond so many failures in a row an operator should know. */
const FAULTS_BEFORE_WARNING = 8;
/** Slots before the start of a line in which its last block is looked for. */
const START_REACH = 64n;

/**
 * The blocks of a network at one commitment, each told once and in order: the next one told is always the child of
 * the one told last, whatever happens to nodes meanwhile.
 */
export class BlockStream {
  readonly #options: BlockStreamOptions;
  readonly #notifier = new LedgerNotifier();
  readonly #watchers = new Set<Watcher>();
  readonly #resumed = new Set<ResumedSubscription>();
  readonly #end = new AbortController();
  /** The last one that was told; null before the first listener. */
  #last: Slot | null = null;
  /** Where a line begins that does not begin at the tip: at the last block up to there. */
  #start: Slot | null = null;
  #isRunning = false;
  #isRerunRequested = false;
  /** Steps in a row that failed. */
  #faults = 0;

  constructor(options: BlockStreamOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0;
  }

  /**
   * Tells of the blocks that reach the commitment from now on.
   * @returns what ends it.
   * @throws what the reader throws when it cannot learn where the chain is.
   */
  async add(subscription: BlockSubscription, listener: FeedListener): Promise<() => void> {
    const tip = this.#last ?? (await this.#options.reader.slot(this.#options.commitment));
    this.#last ??= tip;
    const watcher = { listener, end: this.#notifier.add(subscription, listener) };
    this.#watchers.add(watcher);
    return () => this.#remove(watcher);
  }

  /**
   * Goes on behind another feed, on a line of its own or of others that begin at the same slot.
   * @returns what ends it.
   */
  resume(
    subscription: SubscriptionOf<'transaction'>,
    listener: FeedListener,
    before: ResumePoint,
  ): () => void {
    this.#start ??= before.notBefore;
    const watcher = { listener, end: () => {} };
    const resumed = { ...before, subscription, watcher };
    watcher.end = () => this.#resumed.delete(resumed);
    this.#watchers.add(watcher);
    this.#resumed.add(resumed);
    return () => this.#remove(watcher);
  }

  /**
   * There may be new blocks: looks for them, unless it is looking already.
   * @param tip - the network's newest slot.
   */
  async advance(tip: Slot): Promise<void> {
    this.#isRerunRequested = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isRerunRequested && !this.isEmpty && !this.#end.signal.aborted) {
      this.#isRerunRequested = false;
      try {
        if (await this.#step(tip)) this.#isRerunRequested = true;
        this.#faults = 0;
      } catch (fault) {
        // The next slot tries again.
        this.#logFault(fault);
      }
    }
    this.#isRunning = false;
    if (this.#isTooFarBehind(tip)) this.giveUp('too far behind');
  }

  /** At warn once, until blocks can be read again. */
  #logFault(fault: unknown): void {
    const { network, commitment, log } = this.#options;
    const level = ++this.#faults === FAULTS_BEFORE_WARNING ? 'warn' : 'debug';
    log[level]({ network, commitment, cause: String(fault) }, 'could not read the next blocks');
  }

  /** Ends every subscription with a failure. */
  giveUp(reason: string): void {
    const { network, log } = this.#options;
    const watchers = [...this.#watchers];
    if (watchers.length === 0) return;
    log.warn({ network, listeners: watchers.length }, `gave up following blocks: ${reason}`);
    const failure = new Failure('UPSTREAM_UNAVAILABLE', { facts: { network } });
    for (const watcher of watchers) {
      this.#remove(watcher);
      watcher.listener.onError(failure);
    }
  }

  close(): void {
    this.#end.abort();
    for (const watcher of this.#watchers) this.#remove(watcher);
  }

  #remove(watcher: Watcher): void {
    watcher.end();
    this.#watchers.delete(watcher);
    // Whoever comes next begins at the tip of then.
    if (this.isEmpty) this.#last = null;
  }

  /** Tells the next blocks. @returns whether there may be more. */
  async #step(tip: Slot): Promise<boolean> {
    const last = this.#last ?? (await this.#findStart());
    if (last === null) return false;
    this.#last ??= last;
    const slots = await this.#next(last, tip);
    await this.#options.reader.eachBlock(slots, this.#end.signal, async (block) => {
      if (this.#last === null || block.slot <= this.#last) return;
      // A node that lacks a block answers without it.
      if (block.parentSlot !== this.#last) throw new ReadError('getBlocks', 0);
      this.#emit(block);
      await nextTurn();
    });
    return slots.length > FULL_STRIDE_BLOCKS;
  }

  /** The last block up to where the line begins. */
  async #findStart(): Promise<Slot | null> {
    const start = this.#start;
    if (start === null) return null;
    const { reader, commitment } = this.#options;
    const from = slotOf(start > START_REACH ? start - START_REACH : 0n);
    const found = (await reader.slots(from, start, commitment, this.#end.signal)).at(-1);
    if (found === undefined) throw new ReadError('getBlocks', 0);
    return this.isEmpty ? null : found;
  }

  /** Slots that hold the blocks after the last one; more than a stride of slots may hold none. */
  async #next(last: Slot, tip: Slot): Promise<readonly Slot[]> {
    const { reader, commitment } = this.#options;
    const near = await reader.availableSlots(slotOf(last + 1n), slotOf(last + STRIDE), commitment);
    if (near.length > 0 || tip <= last + 2n * STRIDE) return near;
    const far = await reader.availableSlots(slotOf(last + 1n), tip, commitment);
    return far.slice(0, Number(STRIDE));
  }

  #emit(block: Block): void {
    const { slot } = block;
    this.#emitResumed(block);
    const at = BigInt(Date.now());
    block.transactions.forEach((executed, index) => {
      const isVote = isSimpleVote(executed.transaction);
      this.#notifier.emit({ kind: 'transaction', slot, index, executed, isVote });
    });
    this.#notifier.emit({ kind: 'block', block });
    // Only listeners of this commitment, and of `processed`, are here.
    this.#notifier.emit({ kind: 'processed', slot });
    this.#notifier.emit({ kind: 'confirmed', slot, at });
    this.#notifier.emit({ kind: 'rooted', slot, at });
    this.#last = slot;
  }

  /** Tells what another feed did not; behind all that it told, a subscription is one like the others. */
  #emitResumed(block: Block): void {
    for (const resumed of this.#resumed) {
      const { subscription, watcher, emitted } = resumed;
      if (emitted.newest === null || block.slot > emitted.newest) {
        this.#resumed.delete(resumed);
        watcher.end = this.#notifier.add(subscription, watcher.listener);
      } else emitMissed(block, resumed);
    }
  }

  #isTooFarBehind(tip: Slot): boolean {
    const at = this.#last ?? this.#start;
    return at !== null && tip - at > BigInt(this.#options.limits.followerLagMaxSlots);
  }
}

function emitMissed(
  { slot, transactions }: Block,
  { subscription, watcher, emitted, notBefore }: ResumedSubscription,
): void {
  if (slot <= notBefore) return;
  const watchers = new TransactionWatchers();
  watchers.add(subscription, watcher.listener);
  transactions.forEach((executed, index) => {
    const signature = executed.transaction.signatures[0];
    if (signature !== undefined && emitted.has(subscription.commitment, slot, signature)) return;
    watchers.notify(new TransactionNotification(slot, index, executed, isSimpleVote(executed.transaction)));
  });
}
