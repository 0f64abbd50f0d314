import { setTimeout as sleep } from 'node:timers/promises';
import type { Slot } from '../../ledger/units.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { FeedListener } from '../../streams/feed.ts';
import { spreadPause } from '../retry-pause.ts';
import { BlockLine, type BlockLineOptions, type BlockSubscription } from './block-line.ts';
import { readSlotInfo } from './slot-info.ts';
import type { TransactionsTold } from './transactions-told.ts';

/** What tells the slots of a network. */
export type SlotTeller = Readonly<{
  /** @returns what ends it. */
  open: (subscription: SubscriptionOf<'slot'>, listener: FeedListener) => Promise<() => void>;
  /** The newest slot that is believed; null while unknown. */
  networkSlot: () => Slot | null;
}>;

export type BlockFollowerOptions = Omit<BlockLineOptions, 'commitment'> &
  Readonly<{
    /** Whose slots say when to look for blocks. */
    pubsub: SlotTeller;
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
  readonly #pubsub: SlotTeller;
  readonly #options: Omit<BlockLineOptions, 'commitment'>;
  readonly #confirmed: BlockLine;
  readonly #finalized: BlockLine;
  /** Lines that go on behind another feed, by commitment and first slot, while somebody listens. */
  readonly #resumed = new Map<string, BlockLine>();
  readonly #end = new AbortController();
  /** The subscription to slots, while somebody listens to blocks. */
  #slots: Promise<() => void> | null = null;

  constructor({ pubsub, ...options }: BlockFollowerOptions) {
    this.#pubsub = pubsub;
    this.#options = options;
    this.#confirmed = new BlockLine({ ...options, commitment: 'confirmed' });
    this.#finalized = new BlockLine({ ...options, commitment: 'finalized' });
  }

  /**
   * Begins to tell of blocks from now on.
   * @returns what ends it.
   * @throws Failure when no node tells slots, or none answers, or after `close`.
   */
  async open(subscription: BlockSubscription, listener: FeedListener): Promise<() => void> {
    this.#refuseClosed();
    const line = subscription.commitment === 'finalized' ? this.#finalized : this.#confirmed;
    const end = await line.add(subscription, listener);
    const close = (): void => {
      end();
      this.#rest();
    };
    try {
      this.#refuseClosed();
      await this.#startSlots();
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
  takeOver(
    subscription: SubscriptionOf<'transaction'>,
    listener: FeedListener,
    { told, opened }: Readonly<{ told: TransactionsTold; opened: Slot | null }>,
  ): () => void {
    if (this.#end.signal.aborted) return () => {};
    const commitment = subscription.commitment === 'finalized' ? 'finalized' : 'confirmed';
    const upTo = told.upTo(commitment) ?? opened;
    if (upTo === null) return this.#openLater(subscription, listener);
    const notBefore = opened !== null && opened > upTo ? opened : upTo;
    const key = `${commitment} ${notBefore}`;
    const line = this.#resumed.get(key) ?? new BlockLine({ ...this.#options, commitment });
    this.#resumed.set(key, line);
    const end = line.resume(subscription, listener, { told, notBefore });
    void this.#keepSlots();
    return () => {
      end();
      this.#rest();
    };
  }

  close(): void {
    this.#end.abort();
    for (const line of this.#lines()) line.close();
    this.#resumed.clear();
    this.#stopSlots();
  }

  #refuseClosed(): void {
    const { network } = this.#options;
    if (this.#end.signal.aborted) throw new Failure('UPSTREAM_UNAVAILABLE', { facts: { network } });
  }

  /** Nothing was told of it: it begins where the chain is now. */
  #openLater(subscription: BlockSubscription, listener: FeedListener): () => void {
    let isEnded = false;
    let end: (() => void) | null = null;
    void this.open(subscription, listener).then(
      (close) => {
        end = close;
        if (isEnded) close();
      },
      (cause: unknown) => {
        const { network } = this.#options;
        if (!isEnded) listener.fail(new Failure('UPSTREAM_UNAVAILABLE', { facts: { network }, cause }));
      },
    );
    return () => {
      isEnded = true;
      end?.();
    };
  }

  #lines(): readonly BlockLine[] {
    return [this.#confirmed, this.#finalized, ...this.#resumed.values()];
  }

  get #isEmpty(): boolean {
    return this.#lines().every(({ isEmpty }) => isEmpty);
  }

  /** Somebody left. */
  #rest(): void {
    for (const [key, line] of this.#resumed) if (line.isEmpty) this.#resumed.delete(key);
    if (this.#isEmpty) this.#stopSlots();
  }

  /** Hears of slots for as long as somebody listens; gives them up when no node tells any for too long. */
  async #keepSlots(): Promise<void> {
    const { signal } = this.#end;
    const deadline = performance.now() + this.#options.limits.gapTimeoutMs;
    while (!this.#isEmpty && !signal.aborted) {
      try {
        await this.#startSlots();
        return;
      } catch {
        if (performance.now() > deadline) {
          for (const line of this.#lines()) line.giveUp('no node tells of slots');
          this.#rest();
          return;
        }
        await sleep(spreadPause(PAUSE_MS), undefined, { signal }).catch(() => {});
      }
    }
  }

  #startSlots(): Promise<() => void> {
    if (this.#slots !== null) return this.#slots;
    /** Another subscription may have taken its place meanwhile. */
    const lose = (): boolean => {
      const isMine = this.#slots === slots;
      if (isMine) this.#slots = null;
      return isMine;
    };
    const slots = this.#pubsub.open(
      { kind: 'slot' },
      {
        notify: (result) => this.#advance(readSlotInfo(result)?.slot ?? null),
        fail: () => {
          // Whoever still listens hears of slots again from the next node that can be had.
          if (lose()) void this.#keepSlots();
        },
      },
    );
    this.#slots = slots;
    slots.catch(lose);
    return slots;
  }

  #stopSlots(): void {
    void this.#slots?.then(
      (end) => end(),
      () => {},
    );
    this.#slots = null;
  }

  #advance(slot: Slot | null): void {
    if (slot === null) return;
    // One node alone may be wrong about how far the network is.
    const believed = this.#pubsub.networkSlot() ?? slot;
    const tip = slot < believed ? slot : believed;
    for (const line of this.#lines()) void line.advance(tip);
  }
}
