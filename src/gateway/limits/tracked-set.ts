/** So often a name is told of after it was last asked for: what others took meanwhile is heard of with it. */
const REPORT_COUNT = 10;

/** Names that asked lately, each in its turn. */
export class TrackedSet {
  readonly #namesMax: number;
  /** How often each is still to be told of. */
  readonly #remainingReports = new Map<string, number>();

  /** @param namesMax - names beyond it are not followed. */
  constructor(namesMax: number) {
    this.#namesMax = namesMax;
  }

  /** The name has asked just now. */
  add(name: string): void {
    if (this.#remainingReports.size < this.#namesMax || this.#remainingReports.has(name))
      this.#remainingReports.set(name, REPORT_COUNT);
  }

  /** The names whose turn it is, at most so many. */
  next(max: number): string[] {
    const names: string[] = [];
    for (const name of this.#remainingReports.keys()) {
      if (names.length >= max) break;
      names.push(name);
    }
    for (const name of names) this.#requeue(name);
    return names;
  }

  /** Puts a name behind all others, or takes it out. */
  #requeue(name: string): void {
    const remaining = (this.#remainingReports.get(name) ?? 0) - 1;
    this.#remainingReports.delete(name);
    if (remaining > 0) this.#remainingReports.set(name, remaining);
  }
}
