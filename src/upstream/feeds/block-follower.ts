import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../protocol/errors.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import { withJitter } from '../exponential-backoff.ts';
import { BlockStream, type BlockStreamOptions, type BlockSubscription } from './block-stream.ts';
import { historyOf } from './chain-reader.ts';
import type { EmittedTransactions } from './preferred-feed.ts';
import { readSlotInfo } from './pubsub-message.ts';

type SlotFeed = Readonly<{
  open: (subscription: SubscriptionOf<'slot'>, listener: FeedListener) => Promise<() => void>;
  networkSlot: () => Slot | null;
}>;

type BlockFollowerOptions = Omit<BlockStreamOptions, 'commitment'> &
  Readonly<{
    pubsub: SlotFeed;
  }>;

const PAUSE_MS = 200;

/**
 * Reads blocks whenever a new slot arrives, so it needs no blockSubscribe and misses no block when nodes fail. At
 * `processed`, emits a transaction only once its block is confirmed, because nodes serve no unconfirmed blocks.
 */
export class BlockFollower {
  readonly #pubsub: SlotFeed;
  readonly #options: Omit<BlockStreamOptions, 'commitment'>;
  readonly #confirmed: BlockStream;
  readonly #finalized: BlockStream;
  /** Streams that continue from another feed, keyed by commitment and `resumeAfter`. */
  readonly #resumed = new Map<string, BlockStream>();
  readonly #end = new AbortController();
  #slotSubscription: Promise<() => void> | null = null;

  constructor({ pubsub, ...options }: BlockFollowerOptions) {
    this.#pubsub = pubsub;
    this.#options = options;
    this.#confirmed = new BlockStream({ ...options, commitment: 'confirmed' });
    this.#finalized = new BlockStream({ ...options, commitment: 'finalized' });
  }

  /** @throws Failure if no node sends slots or responds, or after `close`. */
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
   * Takes over from another feed and emits missed transactions first. `opened`: the slot up to which that feed had
   * emitted transactions when the subscription was opened, if known.
   */
  resume(
    subscription: SubscriptionOf<'transaction'>,
    listener: FeedListener,
    { emitted, opened }: Readonly<{ emitted: EmittedTransactions; opened: Slot | null }>,
  ): () => void {
    if (this.#end.signal.aborted) return () => {};
    const commitment = historyOf(subscription.commitment);
    const upTo = emitted.upTo(commitment) ?? opened;
    if (upTo === null) {
      // The position of the other feed is unknown, so start at the tip.
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
    const resumeAfter = opened !== null && opened > upTo ? opened : upTo;
    const key = `${commitment} ${resumeAfter}`;
    const stream = this.#resumed.get(key) ?? new BlockStream({ ...this.#options, commitment });
    this.#resumed.set(key, stream);
    const end = stream.resume(subscription, listener, { emitted, resumeAfter });
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

  #streams(): readonly BlockStream[] {
    return [this.#confirmed, this.#finalized, ...this.#resumed.values()];
  }

  get #isEmpty(): boolean {
    return this.#streams().every(({ isEmpty }) => isEmpty);
  }

  #stopIfIdle(): void {
    for (const [key, stream] of this.#resumed) if (stream.isEmpty) this.#resumed.delete(key);
    if (this.#isEmpty) this.#unsubscribeFromSlots();
  }

  /** Retries the slot subscription while a stream has subscribers. They receive an error after `gapTimeoutMs`. */
  async #maintainSlots(): Promise<void> {
    const { signal } = this.#end;
    const deadline = performance.now() + this.#options.limits.gapTimeoutMs;
    while (!this.#isEmpty && !signal.aborted) {
      try {
        await this.#subscribeToSlots();
        return;
      } catch {
        if (performance.now() > deadline) {
          for (const stream of this.#streams()) stream.giveUp('no node delivers slot notifications');
          this.#stopIfIdle();
          return;
        }
        await sleep(withJitter(PAUSE_MS), undefined, { signal }).catch(() => {});
      }
    }
  }

  #subscribeToSlots(): Promise<() => void> {
    if (this.#slotSubscription !== null) return this.#slotSubscription;
    /** @returns false if a newer slot subscription has replaced this subscription. */
    const reset = (): boolean => {
      const isCurrent = this.#slotSubscription === slots;
      if (isCurrent) this.#slotSubscription = null;
      return isCurrent;
    };
    const slots = this.#pubsub.open(
      { kind: 'slot' },
      {
        onNotification: (result) => this.#advance(readSlotInfo(result)?.slot ?? null),
        onError: () => {
          if (reset()) void this.#maintainSlots();
        },
      },
    );
    this.#slotSubscription = slots;
    slots.catch(reset);
    return slots;
  }

  #unsubscribeFromSlots(): void {
    void this.#slotSubscription?.then(
      (end) => end(),
      () => {},
    );
    this.#slotSubscription = null;
  }

  #advance(slot: Slot | null): void {
    if (slot === null) return;
    // A single node may report a wrong tip, so the trusted network slot limits it.
    const trusted = this.#pubsub.networkSlot() ?? slot;
    const tip = slot < trusted ? slot : trusted;
    for (const stream of this.#streams()) void stream.advance(tip);
  }
}
