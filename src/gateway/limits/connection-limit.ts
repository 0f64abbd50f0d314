/** Open connections of a key family (`name`) in this process, as reported to the other gateways. */
export type ConnectionCount = Readonly<{ name: string; open: number }>;

/** Number of report rounds after which an idle name is forgotten. */
const IDLE_ROUNDS_MAX = 3;

/** Limits open connections, or other concurrent uses, per key family. Includes uses that other gateways report. */
export class ConnectionLimit {
  readonly #open = new Map<string, number>();
  /** Open connections at other gateways, by tracked name; null if limits are not shared. */
  readonly #remoteCounts: Map<string, { connections: number; rounds: number }> | null;
  readonly #changed = new Set<string>();
  /** Names still to report in the current round; null: no round in progress. */
  #remainingNames: Iterator<string> | null = null;
  #gateways = 1;

  constructor({ isShared = false }: Readonly<{ isShared?: boolean }> = {}) {
    this.#remoteCounts = isShared ? new Map() : null;
  }

  openCount(familyId: string): number {
    return this.#open.get(familyId) ?? 0;
  }

  /** Acquires `count` of the family's `max` permits. @returns false, without acquiring any, if fewer are free. */
  tryAcquire(familyId: string, max: number, count = 1): boolean {
    const open = this.openCount(familyId);
    this.#track(familyId);
    if (open + count > this.#capacityFor(familyId, max)) return false;
    this.#open.set(familyId, open + count);
    return true;
  }

  release(familyId: string, count = 1): void {
    const open = this.openCount(familyId);
    if (open > count) this.#open.set(familyId, open - count);
    else this.#open.delete(familyId);
    this.#track(familyId);
  }

  /**
   * Reports changed names first, then the remaining names of the current round.
   * @param max - maximum number of names; the rest follow in later reports.
   * @param round - `next`: start a round if the last one is complete. `restart`: start a new round at once.
   */
  report(max: number, round: 'next' | 'restart' | null): ConnectionCount[] {
    if (this.#remoteCounts === null) return [];
    if (round === 'restart' || (round === 'next' && this.#remainingNames === null))
      this.#remainingNames = this.#remoteCounts.keys();
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

  applyRemote(name: string, connections: number): void {
    const remote = this.#remoteCounts?.get(name);
    if (remote !== undefined) remote.connections = connections;
  }

  /** @param gateways - number by which limits are divided while gateways cannot exchange reports; otherwise 1. */
  setGateways(gateways: number): void {
    this.#gateways = gateways;
  }

  #capacityFor(name: string, max: number): number {
    if (this.#remoteCounts === null) return max;
    // Grant at least one permit if the plan has any; otherwise, clients could not connect to any gateway.
    if (this.#gateways > 1) return Math.max(Math.min(1, max), Math.floor(max / this.#gateways));
    return max - (this.#remoteCounts.get(name)?.connections ?? 0);
  }

  #track(name: string): void {
    if (this.#remoteCounts === null) return;
    this.#changed.add(name);
    const remote = this.#remoteCounts.get(name);
    if (remote === undefined) this.#remoteCounts.set(name, { connections: 0, rounds: 0 });
    else remote.rounds = 0;
  }

  #expireIdle(name: string): void {
    const remote = this.#remoteCounts?.get(name);
    if (remote === undefined || this.#open.has(name)) return;
    remote.rounds += 1;
    if (remote.rounds > IDLE_ROUNDS_MAX) this.#remoteCounts?.delete(name);
  }
}
