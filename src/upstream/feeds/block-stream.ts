import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Block } from '../../solana/block.ts';
import { isSimpleVote } from '../../solana/transaction/simple-vote.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import type { LedgerEvent } from '../../streams/ledger-event.ts';
import { TransactionNotification } from '../../streams/notifier/transaction-notification.ts';
import { TransactionWatchers } from '../../streams/notifier/transaction-watchers.ts';
import { type ChainReader, type HistoryCommitment, ReadError } from './chain-reader.ts';
import type { FeedLimits } from './limits.ts';
import type { EmittedTransactions } from './preferred-feed.ts';

export type BlockSubscription = SubscriptionOf<'block'> | SubscriptionOf<'transaction'>;

/** The part of `LedgerNotifier` that block subscriptions need. */
interface BlockNotifier {
  add(subscription: BlockSubscription, listener: FeedListener): () => void;
  emit(event: LedgerEvent): void;
}

export type BlockStreamOptions = Readonly<{
  network: Network;
  commitment: HistoryCommitment;
  reader: ChainReader;
  limits: FeedLimits;
  log: Logger;
  createNotifier: () => BlockNotifier;
}>;

type Watcher = { readonly listener: FeedListener; end: () => void };

type ResumePoint = Readonly<{
  emitted: EmittedTransactions;
  /** The subscription resumes after this slot. */
  resumeAfter: Slot;
}>;

/** A subscription taken over from another feed. It joins the notifier after the last slot emitted by that feed. */
type ResumedSubscription = ResumePoint &
  Readonly<{ subscription: SubscriptionOf<'transaction'>; watcher: Watcher }>;

const STRIDE = 50n;
/** If one read returns more blocks than this, more blocks may be available. */
const FULL_STRIDE_BLOCKS = 10;
/** Consecutive failures before a warning. A few are normal: nodes may serve new blocks with a delay. */
const FAULTS_BEFORE_WARNING = 8;
const START_REACH = 64n;

/** Emits each block exactly once and after its parent, even when nodes fail. */
export class BlockStream {
  readonly #options: BlockStreamOptions;
  readonly #notifier: BlockNotifier;
  readonly #watchers = new Set<Watcher>();
  readonly #resumed = new Set<ResumedSubscription>();
  readonly #end = new AbortController();
  #last: Slot | null = null;
  /** A resumed stream starts after the last block at or before this slot. */
  #start: Slot | null = null;
  #isRunning = false;
  #isRerunRequested = false;
  #faults = 0;

  constructor(options: BlockStreamOptions) {
    this.#options = options;
    this.#notifier = options.createNotifier();
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0;
  }

  /** Emits blocks that reach the commitment from now on. @throws the reader's error if the tip cannot be read. */
  async add(subscription: BlockSubscription, listener: FeedListener): Promise<() => void> {
    const tip = this.#last ?? (await this.#options.reader.slot(this.#options.commitment));
    this.#last ??= tip;
    const watcher = { listener, end: this.#notifier.add(subscription, listener) };
    this.#watchers.add(watcher);
    return () => this.#remove(watcher);
  }

  resume(
    subscription: SubscriptionOf<'transaction'>,
    listener: FeedListener,
    before: ResumePoint,
  ): () => void {
    this.#start ??= before.resumeAfter;
    const watcher = { listener, end: () => {} };
    const resumed = { ...before, subscription, watcher };
    watcher.end = () => this.#resumed.delete(resumed);
    this.#watchers.add(watcher);
    this.#resumed.add(resumed);
    return () => this.#remove(watcher);
  }

  /** Reads new blocks up to the network's tip. If a read is in progress, another read follows it. */
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
        const { network, commitment, log } = this.#options;
        const level = ++this.#faults === FAULTS_BEFORE_WARNING ? 'warn' : 'debug';
        log[level]({ network, commitment, cause: String(fault) }, 'Failed to read blocks');
      }
    }
    this.#isRunning = false;
    if (this.#isTooFarBehind(tip)) this.giveUp('too far behind');
  }

  giveUp(reason: string): void {
    const { network, log } = this.#options;
    const watchers = [...this.#watchers];
    if (watchers.length === 0) return;
    log.warn({ network, listeners: watchers.length }, `Block subscriptions failed: ${reason}`);
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
    // The next subscription starts at the tip.
    if (this.isEmpty) this.#last = null;
  }

  /** Emits the next blocks. @returns whether more may follow. */
  async #step(tip: Slot): Promise<boolean> {
    const last = this.#last ?? (await this.#findStart());
    if (last === null) return false;
    this.#last ??= last;
    const slots = await this.#next(last, tip);
    await this.#options.reader.eachBlock(slots, this.#end.signal, async (block) => {
      if (this.#last === null || block.slot <= this.#last) return;
      // A mismatch means that the node's slot list omits a block.
      if (block.parentSlot !== this.#last) throw new ReadError('getBlocks', 0);
      const { slot } = block;
      for (const resumed of this.#resumed) {
        const { subscription, watcher, emitted } = resumed;
        if (emitted.newest === null || block.slot > emitted.newest) {
          this.#resumed.delete(resumed);
          watcher.end = this.#notifier.add(subscription, watcher.listener);
        } else emitMissed(block, resumed);
      }
      const at = BigInt(Date.now());
      block.transactions.forEach((executed, index) => {
        const isVote = isSimpleVote(executed.transaction);
        this.#notifier.emit({ kind: 'transaction', slot, index, executed, isVote });
      });
      this.#notifier.emit({ kind: 'block', block });
      // No subscription has a higher commitment than the stream, so the events of all commitments are due.
      this.#notifier.emit({ kind: 'processed', slot });
      this.#notifier.emit({ kind: 'confirmed', slot, at });
      this.#notifier.emit({ kind: 'rooted', slot, at });
      this.#last = slot;
      await nextTurn();
    });
    return slots.length > FULL_STRIDE_BLOCKS;
  }

  async #findStart(): Promise<Slot | null> {
    const start = this.#start;
    if (start === null) return null;
    const { reader, commitment } = this.#options;
    const from = slotOf(start > START_REACH ? start - START_REACH : 0n);
    const found = (await reader.slots(from, start, commitment, this.#end.signal)).at(-1);
    if (found === undefined) throw new ReadError('getBlocks', 0);
    return this.isEmpty ? null : found;
  }

  /** Slots of the next blocks after `last`, even if a whole stride of slots was skipped. */
  async #next(last: Slot, tip: Slot): Promise<readonly Slot[]> {
    const { reader, commitment } = this.#options;
    const near = await reader.availableSlots(slotOf(last + 1n), slotOf(last + STRIDE), commitment);
    if (near.length > 0 || tip <= last + 2n * STRIDE) return near;
    const far = await reader.availableSlots(slotOf(last + 1n), tip, commitment);
    return far.slice(0, Number(STRIDE));
  }

  #isTooFarBehind(tip: Slot): boolean {
    const at = this.#last ?? this.#start;
    return at !== null && tip - at > BigInt(this.#options.limits.followerLagMaxSlots);
  }
}

function emitMissed(
  { slot, transactions }: Block,
  { subscription, watcher, emitted, resumeAfter }: ResumedSubscription,
): void {
  if (slot <= resumeAfter) return;
  const watchers = new TransactionWatchers();
  watchers.add(subscription, watcher.listener);
  transactions.forEach((executed, index) => {
    const signature = executed.transaction.signatures[0];
    if (signature !== undefined && emitted.has(subscription.commitment, slot, signature)) return;
    watchers.notify(new TransactionNotification(slot, index, executed, isSimpleVote(executed.transaction)));
  });
}
