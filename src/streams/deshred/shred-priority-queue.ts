import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { GeyserListener, ResetReason } from '../geyser/geyser-source.ts';

type QueuedEvent = RawUpdate | Parameters<GeyserListener['onLost']> | ResetReason;

const shredPriorityOptions = {
  /**
   * If a tick accepted at least this many shreds, more are assumed to be waiting in the socket: libuv reads up to 32
   * packets at a time, and some of them are duplicates.
   */
  shredsPerTick: 8,
  /** Maximum delay of the standard stage. */
  waitMaxMs: 100,
};

export type ShredPriorityOptions = Readonly<typeof shredPriorityOptions> &
  Readonly<{
    /** Number of shreds accepted so far. Invalid shreds do not count, so that they cannot delay the standard stage. */
    accepted: () => number;
  }>;

/**
 * Gives the shred stage priority over the standard stage. After a pause, shreds and updates for the same transactions
 * may become readable at once; updates then wait until the queued shreds have been read.
 */
export class ShredPriorityQueue implements GeyserListener {
  readonly #listener: GeyserListener;
  readonly #options: ShredPriorityOptions;
  #waiting: QueuedEvent[] = [];
  #reusable: QueuedEvent[] = [];
  #accepted = 0;
  #waitingSince = 0;

  constructor(
    listener: GeyserListener,
    options: Pick<ShredPriorityOptions, 'accepted'> & Partial<ShredPriorityOptions>,
  ) {
    this.#listener = listener;
    this.#options = { ...shredPriorityOptions, ...options };
  }

  onUpdate(update: RawUpdate): void {
    this.#add(update);
  }

  onLost(...what: Parameters<GeyserListener['onLost']>): void {
    this.#add(what);
  }

  onReset(reason: ResetReason): void {
    this.#add(reason);
  }

  #add(event: QueuedEvent): void {
    if (this.#waiting.push(event) > 1) return;
    this.#waitingSince = performance.now();
    this.#accepted = this.#options.accepted();
    setImmediate(this.#check);
  }

  readonly #check = (): void => {
    const { accepted, shredsPerTick, waitMaxMs } = this.#options;
    const read = accepted() - this.#accepted;
    this.#accepted += read;
    const isBehind = read >= shredsPerTick && performance.now() - this.#waitingSince < waitMaxMs;
    if (isBehind) setImmediate(this.#check);
    else {
      const events = this.#waiting;
      this.#waiting = this.#reusable;
      for (const one of events) {
        if (typeof one === 'string') this.#listener.onReset(one);
        else if (Array.isArray(one)) this.#listener.onLost(...(one as Parameters<GeyserListener['onLost']>));
        else this.#listener.onUpdate(one as RawUpdate);
      }
      events.length = 0;
      this.#reusable = events;
    }
  };
}
