import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../protocol/errors.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import { withJitter } from '../exponential-backoff.ts';
import {
  BlockStream,
  type BlockStreamOptions,
  type BlockSubscription,
  type EmittedTransactions,
} from './block-stream.ts';
import { readSlotInfo } from './pubsub-message.ts';

/** What tells the slots of a network. */
type SlotFeed = Readonly<{
  /** @returns what ends it. */
  open: (subscription: SubscriptionOf<'slot'>, listener: FeedListener) => Promise<() => void>;
  /** The newest slot that is believed; null while unknown. */
  networkSlot: () => Slot | null;
}>;

type BlockFollowerOptions = Omit<BlockStreamOptions, 'commitment'> &
  Readonly<{
    /** Whose slots say when to look for blocks. */
    pubsub: SlotFeed;
  }>;

/** Pause before nodes are asked again for their slots. */
const PAUSE_MS = 200;

/**
 * Feeds `block` and `transaction` subscriptions from the blocks of a network, read with getBlocks and getBlock each
 * time a node tells of a new slot, while somebody listens. So they work where nodes have no blockSubscribe, and no
 * block is missed, however often a node dies. A `transaction` subscription at `processed` is told when its block is
 * confirmed: history begins there.
 */
export class BlockFollower {
  readonly #pubsub: SlotFeed;
  readonly #options: Omit<BlockStreamOptions, 'commitment'>;
  readonly #confirmed: BlockStream;
  readonly #finalized: BlockStream;
  /** Lines that go on behind another feed, by commitment and first slot, while somebody listens. */
  readonly #resumed = new Map<string, BlockStream>();
  readonly #end = new AbortController();
  /** The subscription to slots, while somebody listens to blocks. */
  #slots: Promise<() => void> | null = null;

  constructor({ pubsub, ...options }: BlockFollowerOptions) {
    this.#pubsub = pubsub;
    this.#options = options;
    this.#confirmed = new BlockStream({ ...options, commitment: 'confirmed' });
    this.#finalized = new BlockStream({ ...options, commitment: 'finalized' });
  }

  /**
   * Begins to tell of blocks from now on.
   * @returns what ends it.
   * @throws Failure when no node tells slots, or none answers, or after `close`.
   */
  async open(subscription: BlockSubscription, listener: FeedListener): Promise<() => void> {
    this.#throwIfClosed();
    const stream = subscription.commitment === 'finalized' ? this.#finalized : this.#confirmed;
    const end = await stream.add(subscription, listener);
    const close = (): void => {
      end();
      this.#stopIfIdle();
    };
    try {
      this.#throwIfClosed();
      await this.#subscribeToSlots();
    } catch (fault) {
      close();
      throw fault;
    }
    return close;
  }

  /**
   * Goes on with a subscription where another feed left it: what was missed is told first. The listener's `fail`
   * says when that cannot be.
   * @param before.told - what the other feed told.
   * @param before.opened - what lies in slots up to this one is not owed; null where nobody knows.
   * @returns what ends it.
   */
  resume(
    subscription: SubscriptionOf<'transaction'>,
    listener: FeedListener,
    { emitted, opened }: Readonly<{ emitted: EmittedTransactions; opened: Slot | null }>,
  ): () => void {
    if (this.#end.signal.aborted) return () => {};
    const commitment = subscription.commitment === 'finalized' ? 'finalized' : 'confirmed';
    const upTo = emitted.upTo(commitment) ?? opened;
    if (upTo === null) return this.#openInBackground(subscription, listener);
    const notBefore = opened !== null && opened > upTo ? opened : upTo;
    const key = `${commitment} ${notBefore}`;
    const stream = this.#resumed.get(key) ?? new BlockStream({ ...this.#options, commitment });
    this.#resumed.set(key, stream);
    const end = stream.resume(subscription, listener, { emitted, notBefore });
    void this.#maintainSlots();
    return () => {
      end();
      this.#stopIfIdle();
    };
  }

  close(): void {
    this.#end.abort();
    for (const stream of this.#streams()) stream.close();
    this.#resumed.clear();
    this.#unsubscribeFromSlots();
  }

  #throwIfClosed(): void {
    const { network } = this.#options;
    if (this.#end.signal.aborted) throw new Failure('UPSTREAM_UNAVAILABLE', { facts: { network } });
  }

  /** Nothing was told of it: it begins where the chain is now. */
  #openInBackground(subscription: BlockSubscription, listener: FeedListener): () => void {
    let isEnded = false;
    let end: (() => void) | null = null;
    void this.open(subscription, listener).then(
      (close) => {
        end = close;
        if (isEnded) close();
      },
      (cause: unknown) => {
        const { network } = this.#options;
        if (!isEnded) listener.onError(new Failure('UPSTREAM_UNAVAILABLE', { facts: { network }, cause }));
      },
    );
    return () => {
      isEnded = true;
      end?.();
    };
  }

  #streams(): readonly BlockStream[] {
    return [this.#confirmed, this.#finalized, ...this.#resumed.values()];
  }

  get #isEmpty(): boolean {
    return this.#streams().every(({ isEmpty }) => isEmpty);
  }

  /** Somebody left. */
  #stopIfIdle(): void {
    for (const [key, stream] of this.#resumed) if (stream.isEmpty) this.#resumed.delete(key);
    if (this.#isEmpty) this.#unsubscribeFromSlots();
  }

  /** Hears of slots for as long as somebody listens; gives them up when no node tells any for too long. */
  async #maintainSlots(): Promise<void> {
    const { signal } = this.#end;
    const deadline = performance.now() + this.#options.limits.gapTimeoutMs;
    while (!this.#isEmpty && !signal.aborted) {
      try {
        await this.#subscribeToSlots();
        return;
      } catch {
        if (performance.now() > deadline) {
          for (const stream of this.#streams()) stream.giveUp('no node tells of slots');
          this.#stopIfIdle();
          return;
        }
        await sleep(withJitter(PAUSE_MS), undefined, { signal }).catch(() => {});
      }
    }
  }

  #subscribeToSlots(): Promise<() => void> {
    if (this.#slots !== null) return this.#slots;
    /** Another subscription may have taken its place meanwhile. */
    const reset = (): boolean => {
      const isCurrent = this.#slots === slots;
      if (isCurrent) this.#slots = null;
      return isCurrent;
    };
    const slots = this.#pubsub.open(
      { kind: 'slot' },
      {
        onNotification: (result) => this.#advance(readSlotInfo(result)?.slot ?? null),
        onError: () => {
          // Whoever still listens hears of slots again from the next node that can be had.
          if (reset()) void this.#maintainSlots();
        },
      },
    );
    this.#slots = slots;
    slots.catch(reset);
    return slots;
  }

  #unsubscribeFromSlots(): void {
    void this.#slots?.then(
      (end) => end(),
      () => {},
    );
    this.#slots = null;
  }

  #advance(slot: Slot | null): void {
    if (slot === null) return;
    // One node alone may be wrong about how far the network is.
    const trusted = this.#pubsub.networkSlot() ?? slot;
    const tip = slot < trusted ? slot : trusted;
    for (const stream of this.#streams()) void stream.advance(tip);
  }
}
