/** How many places there are, and who may wait for one. */
export type OwnerPlacesLimits = Readonly<{
  /** Places in all. */
  placesMax: number;
  /** Places of one owner. */
  ownerPlacesMax: number;
  /** Those that wait, in all. */
  waitingMax: number;
  /** Those of one owner. */
  ownerWaitingMax: number;
  /** How long one waits, in milliseconds; null for as long as it takes. */
  waitMs: number | null;
}>;

type Waiter = Readonly<{ go(): void }>;

/** An owner who has places, or waits for some. */
type Lane = { readonly ownerId: string; readonly waiting: Set<Waiter>; taken: number };

/** Places for work that takes its time: so many in all, fewer for each owner. Owners who wait take turns. */
export class OwnerPlaces {
  readonly #limits: OwnerPlacesLimits;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes in which somebody waits; the first has waited for its turn longest. */
  readonly #turns = new Set<Lane>();
  #taken = 0;
  #waiting = 0;

  constructor(limits: OwnerPlacesLimits) {
    this.#limits = limits;
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes a place, or waits for one. Never rejects.
   * @returns whether it was had; if not, too many wait, none became free in time, or the signal is aborted.
   */
  async take(ownerId: string, signal: AbortSignal | null = null): Promise<boolean> {
    if (signal?.aborted) return false;
    const lane = this.#lanes.get(ownerId) ?? { ownerId, waiting: new Set(), taken: 0 };
    if (this.#isFree(lane)) {
      this.#give(lane);
      return true;
    }
    return this.#mayWait(lane) && (await this.#wait(lane, signal));
  }

  /** Gives back a place that `take` gave. */
  giveBack(ownerId: string): void {
    const lane = this.#lanes.get(ownerId);
    if (lane === undefined || lane.taken === 0) throw new RangeError('a place was given back twice');
    lane.taken--;
    this.#taken--;
    const next = [...this.#turns].find((one) => this.#isFree(one));
    const [waiter] = next?.waiting ?? [];
    waiter?.go();
    this.#forgetIdle(lane);
  }

  #isFree(lane: Lane): boolean {
    return this.#taken < this.#limits.placesMax && lane.taken < this.#limits.ownerPlacesMax;
  }

  #mayWait(lane: Lane): boolean {
    const { waitingMax, ownerWaitingMax } = this.#limits;
    return this.#waiting < waitingMax && lane.waiting.size < ownerWaitingMax;
  }

  #give(lane: Lane): void {
    this.#lanes.set(lane.ownerId, lane);
    lane.taken++;
    this.#taken++;
  }

  #forgetIdle(lane: Lane): void {
    if (lane.taken === 0 && lane.waiting.size === 0) this.#lanes.delete(lane.ownerId);
  }

  #wait(lane: Lane, signal: AbortSignal | null): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (): void => {
        this.#leave(lane, waiter);
        if (timer !== null) clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => {
        stop();
        this.#forgetIdle(lane);
        resolve(false);
      };
      const go = (): void => {
        stop();
        // At once: nobody may take it before whoever waits runs.
        this.#give(lane);
        this.#moveBehind(lane);
        resolve(true);
      };
      const { waitMs } = this.#limits;
      const timer = waitMs === null ? null : setTimeout(giveUp, waitMs);
      const waiter: Waiter = { go };
      this.#enter(lane, waiter);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  #enter(lane: Lane, waiter: Waiter): void {
    this.#lanes.set(lane.ownerId, lane);
    lane.waiting.add(waiter);
    this.#waiting++;
    this.#turns.add(lane);
  }

  #leave(lane: Lane, waiter: Waiter): void {
    lane.waiting.delete(waiter);
    this.#waiting--;
    if (lane.waiting.size === 0) this.#turns.delete(lane);
  }

  /** Whose turn it was goes behind the others. */
  #moveBehind(lane: Lane): void {
    if (this.#turns.delete(lane)) this.#turns.add(lane);
  }
}
