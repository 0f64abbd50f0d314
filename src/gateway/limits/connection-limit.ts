/** How many places a name holds here, for the other gateways. */
export type ConnectionCount = Readonly<{ name: string; open: number }>;

type ConnectionLimitOptions = Readonly<{
  /** Whether other gateways are to hear what is held. */
  isShared?: boolean;
}>;

/** For how many tellings of all it is heard what others hold of a name that holds nothing here. */
const IDLE_ROUNDS_MAX = 3;

/**
 * Places for long connections, or for what they hold, counted per key family in this process. Where several gateways
 * share them, those that others hold are counted as they were heard of last.
 */
export class ConnectionLimit {
  readonly #open = new Map<string, number>();
  /** Names that are listened for, with what others hold of them; null where nothing is shared. */
  readonly #others: Map<string, { connections: number; rounds: number }> | null;
  readonly #changed = new Set<string>();
  /** Names that are yet to be told of in the round that is under way; null: none is. */
  #remainingNames: Iterator<string> | null = null;
  #gateways = 1;

  constructor({ isShared = false }: ConnectionLimitOptions = {}) {
    this.#others = isShared ? new Map() : null;
  }

  /** Places that the family holds in this process. */
  openCount(familyId: string): number {
    return this.#open.get(familyId) ?? 0;
  }

  /** Takes places of the family if so many of its `max` are free. */
  tryAcquire(familyId: string, max: number, count = 1): boolean {
    const open = this.openCount(familyId);
    this.#track(familyId);
    if (open + count > this.#capacityFor(familyId, max)) return false;
    this.#open.set(familyId, open + count);
    return true;
  }

  /** Gives places back that were taken. */
  release(familyId: string, count = 1): void {
    const open = this.openCount(familyId);
    if (open > count) this.#open.set(familyId, open - count);
    else this.#open.delete(familyId);
    this.#track(familyId);
  }

  /**
   * What is held of names that changed since they were told of, and then of those whose turn it is.
   * @param most - names at a time; the others come with the next ones.
   * @param round - `next`: all that are listened for have a turn again, once all had one; `anew`: at once.
   */
  report(max: number, round: 'next' | 'anew' | null): ConnectionCount[] {
    if (this.#others === null) return [];
    if (round === 'anew' || (round === 'next' && this.#remainingNames === null))
      this.#remainingNames = this.#others.keys();
    const names = new Set<string>();
    for (const name of this.#changed) {
      if (names.size >= max) break;
      names.add(name);
      this.#changed.delete(name);
    }
    while (names.size < max && this.#remainingNames !== null) this.#addNext(names);
    return [...names].map((name) => ({ name, open: this.openCount(name) }));
  }

  #addNext(names: Set<string>): void {
    const { value: name, done } = this.#remainingNames?.next() ?? { done: true };
    if (done === true) {
      this.#remainingNames = null;
      return;
    }
    names.add(name);
    this.#changed.delete(name);
    this.#expireIdle(name);
  }

  /** Takes in how many places of a name others hold. */
  applyRemote(name: string, connections: number): void {
    const remote = this.#others?.get(name);
    if (remote !== undefined) remote.connections = connections;
  }

  /** From now on each of so many gateways has its part, since none hears of the others; 1: they hear of each other. */
  divide(gateways: number): void {
    this.#gateways = gateways;
  }

  #capacityFor(name: string, max: number): number {
    if (this.#others === null) return max;
    // At least one place for a plan that has any: else nobody could connect to any gateway.
    if (this.#gateways > 1) return Math.max(Math.min(1, max), Math.floor(max / this.#gateways));
    return max - (this.#others.get(name)?.connections ?? 0);
  }

  #track(name: string): void {
    if (this.#others === null) return;
    this.#changed.add(name);
    const remote = this.#others.get(name);
    if (remote === undefined) this.#others.set(name, { connections: 0, rounds: 0 });
    else remote.rounds = 0;
  }

  /** Forgets a name that holds nothing and that nobody asked for lately. */
  #expireIdle(name: string): void {
    const remote = this.#others?.get(name);
    if (remote === undefined || this.#open.has(name)) return;
    remote.rounds += 1;
    if (remote.rounds > IDLE_ROUNDS_MAX) this.#others?.delete(name);
  }
}
