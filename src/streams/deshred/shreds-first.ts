import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { GeyserListener, StartOver } from '../geyser/geyser-source.ts';

/** An update, the arguments of `lost`, or why all starts over. */
type Told = RawUpdate | Parameters<GeyserListener['lost']> | StartOver;

/** How long the standard stage waits for shreds. */
export type ShredsFirstOptions = Readonly<{
  /** Shreds that were read so far and were worth something: a flood of others holds up nobody. */
  accepted: () => number;
  /**
   * So many in one turn of the event loop mean that more may wait: libuv reads 32 packets at a time, among them some
   * that only repeat what is known.
   */
  shredsPerTurn: number;
  /** How long at most the standard stage waits, in milliseconds: a flood must not hold it up. */
  waitMaxMs: number;
}>;

/** The same when nothing else is said. */
export const shredsFirstOptions: Omit<ShredsFirstOptions, 'accepted'> = { shredsPerTurn: 8, waitMaxMs: 100 };

/**
 * Lets the shred stage speak first. A process that did not get to run for a while finds both at its sockets: shreds,
 * and what became of their transactions. Updates of the standard stage are told when all that the turn has read was
 * worked off, and not while more shreds wait to be read.
 */
export class ShredsFirst implements GeyserListener {
  readonly #listener: GeyserListener;
  readonly #options: ShredsFirstOptions;
  #waiting: Told[] = [];
  /** Emptied, so that none is made anew. */
  #spare: Told[] = [];
  #accepted = 0;
  #waitsSince = 0;

  constructor(
    listener: GeyserListener,
    options: Pick<ShredsFirstOptions, 'accepted'> & Partial<ShredsFirstOptions>,
  ) {
    this.#listener = listener;
    this.#options = { ...shredsFirstOptions, ...options };
  }

  tell(update: RawUpdate): void {
    this.#add(update);
  }

  lost(...what: Parameters<GeyserListener['lost']>): void {
    this.#add(what);
  }

  startOver(why: StartOver): void {
    this.#add(why);
  }

  #add(told: Told): void {
    if (this.#waiting.push(told) > 1) return;
    this.#waitsSince = performance.now();
    this.#accepted = this.#options.accepted();
    setImmediate(this.#look);
  }

  readonly #look = (): void => {
    const { accepted, shredsPerTurn, waitMaxMs } = this.#options;
    const read = accepted() - this.#accepted;
    this.#accepted += read;
    const isBehind = read >= shredsPerTurn && performance.now() - this.#waitsSince < waitMaxMs;
    if (isBehind) setImmediate(this.#look);
    else this.#tellAll();
  };

  #tellAll(): void {
    const told = this.#waiting;
    this.#waiting = this.#spare;
    for (const one of told) {
      if (typeof one === 'string') this.#listener.startOver(one);
      else if (Array.isArray(one)) this.#listener.lost(...(one as Parameters<GeyserListener['lost']>));
      else this.#listener.tell(one as RawUpdate);
    }
    told.length = 0;
    this.#spare = told;
  }
}
