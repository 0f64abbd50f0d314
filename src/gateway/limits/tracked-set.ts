/** Number of times a name is reported after its last use. Each report also fetches the counts of other gateways. */
const REPORT_COUNT = 10;

/** Recently used names, reported round-robin. */
export class TrackedSet {
  readonly #namesMax: number;
  readonly #remainingReports = new Map<string, number>();

  /** @param namesMax - names beyond this limit are not tracked. */
  constructor(namesMax: number) {
    this.#namesMax = namesMax;
  }

  add(name: string): void {
    if (this.#remainingReports.size < this.#namesMax || this.#remainingReports.has(name))
      this.#remainingReports.set(name, REPORT_COUNT);
  }

  next(max: number): string[] {
    const names: string[] = [];
    for (const name of this.#remainingReports.keys()) {
      if (names.length >= max) break;
      names.push(name);
    }
    for (const name of names) this.#requeue(name);
    return names;
  }

  #requeue(name: string): void {
    const remaining = (this.#remainingReports.get(name) ?? 0) - 1;
    this.#remainingReports.delete(name);
    if (remaining > 0) this.#remainingReports.set(name, remaining);
  }
}
