import type { Slot } from '../../ledger/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import { BlockLine, type BlockLineOptions, type BlockSubscription } from './block-line.ts';
import type { PubsubFeed } from './pubsub-feed.ts';
import { readSlotInfo } from './slot-info.ts';

export type BlockFollowerOptions = Omit<BlockLineOptions, 'commitment'> &
  Readonly<{
    /** Whose slots say when to look for blocks. */
    pubsub: PubsubFeed;
  }>;

/**
 * Feeds `block` and `transaction` subscriptions from the blocks of a network, read with getBlocks and getBlock each
 * time a node tells of a new slot, while somebody listens. So they work where nodes have no blockSubscribe, and no
 * block is missed, however often a node dies. A `transaction` subscription at `processed` is told when its block is
 * confirmed: history begins there.
 */
export class BlockFollower {
  readonly #pubsub: PubsubFeed;
  readonly #confirmed: BlockLine;
  readonly #finalized: BlockLine;
  /** The subscription to slots, while somebody listens to blocks. */
  #slots: Promise<() => void> | null = null;

  constructor({ pubsub, ...options }: BlockFollowerOptions) {
    this.#pubsub = pubsub;
    this.#confirmed = new BlockLine({ ...options, commitment: 'confirmed' });
    this.#finalized = new BlockLine({ ...options, commitment: 'finalized' });
  }

  /**
   * Begins to tell of blocks from now on.
   * @returns what ends it.
   * @throws Failure when no node tells slots, or none answers.
   */
  async open(subscription: BlockSubscription, listener: FeedListener): Promise<() => void> {
    const line = subscription.commitment === 'finalized' ? this.#finalized : this.#confirmed;
    const end = await line.add(subscription, listener);
    const close = (): void => {
      end();
      if (this.#confirmed.isEmpty && this.#finalized.isEmpty) this.#stopSlots();
    };
    try {
      await this.#startSlots();
    } catch (fault) {
      close();
      throw fault;
    }
    return close;
  }

  close(): void {
    this.#confirmed.close();
    this.#finalized.close();
    this.#stopSlots();
  }

  #startSlots(): Promise<() => void> {
    this.#slots ??= this.#pubsub.open(
      { kind: 'slot' },
      {
        notify: (result) => this.#advance(readSlotInfo(result)?.slot ?? null),
        fail: () => {
          this.#slots = null;
          // Whoever still listens hears of slots again from the next node that can be had.
          if (!this.#confirmed.isEmpty || !this.#finalized.isEmpty) void this.#startSlots().catch(() => {});
        },
      },
    );
    this.#slots.catch(() => {
      this.#slots = null;
    });
    return this.#slots;
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
    void this.#confirmed.advance(slot);
    void this.#finalized.advance(slot);
  }
}
