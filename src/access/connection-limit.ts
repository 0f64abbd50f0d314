/** How many places a name holds here, for the other gateways. */
export type HeldPlaces = Readonly<{ name: string; open: number }>;

type ConnectionLimitOptions = Readonly<{
  /** Whether other gateways are to hear what is held. */
  isShared?: boolean;
}>;

/** For how many tellings of all it is heard what others hold of a name that holds nothing here. */
const ROUNDS_HEARD = 3;

/**
 * Places for long connections, or for what they hold, counted per key family in this process. Where several gateways
 * share them, those that others hold are counted as they were heard of last.
 */
export class ConnectionLimit {
  readonly #open = new Map<string, number>();
  /** Names that are listened for, with what others hold of them; null where nothing is shared. */
  readonly #others: Map<string, { places: number; rounds: number }> | null;
  readonly #changed = new Set<string>();
  /** Names that are yet to be told of in the round that is under way; null: none is. */
  #rest: Iterator<string> | null = null;
  #gateways = 1;

  constructor({ isShared = false }: ConnectionLimitOptions = {}) {
    this.#others = isShared ? new Map() : null;
  }

  /** Places that the family holds in this process. */
  openOf(familyId: string): number {
    return this.#open.get(familyId) ?? 0;
  }

  /** Takes places of the family if so many of its `max` are free. */
  take(familyId: string, max: number, count = 1): boolean {
    const open = this.openOf(familyId);
    this.#listenFor(familyId);
    if (open + count > this.#roomOf(familyId, max)) return false;
    this.#open.set(familyId, open + count);
    return true;
  }

  /** Gives places back that were taken. */
  giveBack(familyId: string, count = 1): void {
    const open = this.openOf(familyId);
    if (open > count) this.#open.set(familyId, open - count);
    else this.#open.delete(familyId);
    this.#listenFor(familyId);
  }

  /**
   * What is held of names that changed since they were told of, and then of those whose turn it is.
   * @param most - names at a time; the others come with the next ones.
   * @param round - `next`: all that are listened for have a turn again, once all had one; `anew`: at once.
   */
  held(most: number, round: 'next' | 'anew' | null): HeldPlaces[] {
    if (this.#others === null) return [];
    if (round === 'anew' || (round === 'next' && this.#rest === null)) this.#rest = this.#others.keys();
    const names = new Set<string>();
    for (const name of this.#changed) {
      if (names.size >= most) break;
      names.add(name);
      this.#changed.delete(name);
    }
    while (names.size < most && this.#rest !== null) this.#takeTurn(names);
    return [...names].map((name) => ({ name, open: this.openOf(name) }));
  }

  #takeTurn(names: Set<string>): void {
    const { value: name, done } = this.#rest?.next() ?? { done: true };
    if (done === true) {
      this.#rest = null;
      return;
    }
    names.add(name);
    this.#changed.delete(name);
    this.#grow(name);
  }

  /** Takes in how many places of a name others hold. */
  learn(name: string, places: number): void {
    const heard = this.#others?.get(name);
    if (heard !== undefined) heard.places = places;
  }

  /** From now on each of so many gateways has its part, since none hears of the others; 1: they hear of each other. */
  divide(gateways: number): void {
    this.#gateways = gateways;
  }

  #roomOf(name: string, max: number): number {
    if (this.#others === null) return max;
    // At least one place for a plan that has any: else nobody could connect to any gateway.
    if (this.#gateways > 1) return Math.max(Math.min(1, max), Math.floor(max / this.#gateways));
    return max - (this.#others.get(name)?.places ?? 0);
  }

  #listenFor(name: string): void {
    if (this.#others === null) return;
    this.#changed.add(name);
    const heard = this.#others.get(name);
    if (heard === undefined) this.#others.set(name, { places: 0, rounds: 0 });
    else heard.rounds = 0;
  }

  /** Forgets a name that holds nothing and that nobody asked for lately. */
  #grow(name: string): void {
    const heard = this.#others?.get(name);
    if (heard === undefined || this.#open.has(name)) return;
    heard.rounds += 1;
    if (heard.rounds > ROUNDS_HEARD) this.#others?.delete(name);
  }
}
