import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { GeyserListener, ResetReason } from '../geyser/geyser-source.ts';

/** An update, the arguments of `lost`, or why all starts over. */
type QueuedEvent = RawUpdate | Parameters<GeyserListener['onLost']> | ResetReason;

/** How long the standard stage waits for shreds. */
export type ShredPriorityOptions = Readonly<{
  /** Shreds that were read so far and were worth something: a flood of others holds up nobody. */
  accepted: () => number;
  /**
   * So many in one turn of the event loop mean that more may wait: libuv reads 32 packets at a time, among them some
   * that only repeat what is known.
   */
  shredsPerTick: number;
  /** How long at most the standard stage waits, in milliseconds: a flood must not hold it up. */
  waitMaxMs: number;
}>;

/** The same when nothing else is said. */
const shredPriorityOptions: Omit<ShredPriorityOptions, 'accepted'> = {
  shredsPerTick: 8,
  waitMaxMs: 100,
};

/**
 * Lets the shred stage speak first. A process that did not get to run for a while finds both at its sockets: shreds,
 * and what became of their transactions. Updates of the standard stage are told when all that the turn has read was
 * worked off, and not while more shreds wait to be read.
 */
export class ShredPriorityQueue implements GeyserListener {
  readonly #listener: GeyserListener;
  readonly #options: ShredPriorityOptions;
  #waiting: QueuedEvent[] = [];
  /** Emptied, so that none is made anew. */
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
    else this.#emitAll();
  };

  #emitAll(): void {
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
}
