import type { Update } from '../../../protocol/geyser/subscribe-update.ts';

/** An update, when its server had it (Unix milliseconds), and which node's server that was. */
export type Arrived = Readonly<{ update: Update; at: bigint; node: string }>;

type ArrivalsOptions = Readonly<{
  /** Updates that wait; beyond it the stream is held, or given up where that cannot help. */
  heldMax: number;
  tell: (arrived: Arrived) => void;
  /** What must be fetched before an update is told; null for nothing. Never rejects. */
  needs: (arrived: Arrived) => Promise<void> | null;
  /** What must be read before the first slot of a new stream is told; null when no hole is before it. Never rejects. */
  gapBefore: (update: DecisiveUpdate) => Promise<void> | null;
  /** Holds the stream back, or no longer. */
  hold: (isHeld: boolean) => void;
  /** A new stream tells of everything but slots, or of what cannot be heard. */
  overflow: () => void;
}>;

type SlotOf<Status> = Extract<Update, { kind: 'slot' }> & Readonly<{ status: Status }>;

/** Shows where a stream begins. */
export type DecisiveUpdate = SlotOf<'createdBank' | 'processed'>;

const RESUMED = 'resumed';

function decisive(item: Arrived | typeof RESUMED): DecisiveUpdate | null {
  if (item === RESUMED || item.update.kind !== 'slot') return null;
  const { update } = item;
  return update.status === 'createdBank' || update.status === 'processed' ? (update as DecisiveUpdate) : null;
}

/**
 * Updates on their way from a stream to whoever hears them: in order, one after the other, waiting where something
 * must be fetched first. After a stream was replaced they wait until it has shown where it begins.
 */
export class Arrivals {
  readonly #options: ArrivalsOptions;
  #held: (Arrived | typeof RESUMED)[] = [];
  /** Changes when all that waits is forgotten: what is fetched then comes too late. */
  #run = {};
  #busy = false;
  #resuming = false;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  push(arrived: Arrived): void {
    if (!this.#busy && !this.#resuming && this.#held.length === 0) {
      this.#handle(arrived);
      return;
    }
    this.#held.push(arrived);
    if (!this.#busy && decisive(arrived) !== null) this.#drain();
    if (this.#held.length < this.#options.heldMax) return;
    if (this.#busy) this.#options.hold(true);
    else this.#options.overflow();
  }

  /** What comes from now on is of another stream. */
  resumed(): void {
    this.#held.push(RESUMED);
    if (!this.#busy) this.#drain();
  }

  clear(): void {
    this.#held = [];
    this.#run = {};
    this.#busy = false;
    this.#resuming = false;
    this.#options.hold(false);
  }

  #drain(): void {
    const run = this.#run;
    const held = this.#held;
    let done = 0;
    while (run === this.#run && !this.#busy && done < held.length) {
      const item = held[done]!;
      if (this.#resuming && item !== RESUMED && !this.#decide(held, done)) break;
      if (this.#busy || run !== this.#run) break;
      done++;
      if (item === RESUMED) this.#resuming = true;
      else this.#handle(item);
    }
    if (run !== this.#run) return;
    held.splice(0, done);
    if (held.length < this.#options.heldMax) this.#options.hold(false);
  }

  /** @returns false while nothing has shown where the stream begins. */
  #decide(held: readonly (Arrived | typeof RESUMED)[], from: number): boolean {
    let isReplaced = false;
    for (let at = from; at < held.length; at++) {
      const item = held[at]!;
      // Another stream replaced this one before it told of a slot: what it told is told, the next shows the hole.
      isReplaced = item === RESUMED;
      if (isReplaced) break;
      const update = decisive(item);
      if (update === null) continue;
      this.#resuming = false;
      const run = this.#run;
      const read = this.#options.gapBefore(update);
      if (read !== null && run === this.#run) this.#wait(read, null);
      return true;
    }
    return isReplaced;
  }

  #handle(arrived: Arrived): void {
    const fetched = this.#options.needs(arrived);
    if (fetched === null) this.#options.tell(arrived);
    else this.#wait(fetched, arrived);
  }

  #wait(fetched: Promise<void>, arrived: Arrived | null): void {
    const run = this.#run;
    this.#busy = true;
    const goOn = (): void => {
      if (run !== this.#run) return;
      this.#busy = false;
      if (arrived !== null) this.#options.tell(arrived);
      if (run === this.#run) this.#drain();
    };
    // What breaks whoever hears it is given up with all that waits behind it.
    void fetched.then(goOn).catch(() => {
      if (run === this.#run) this.#options.overflow();
    });
  }
}
