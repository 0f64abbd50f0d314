/** Places for long connections, or for what they hold, counted per key family in this process. */
export class ConnectionLimit {
  readonly #open = new Map<string, number>();

  /** Places that the family holds. */
  openOf(familyId: string): number {
    return this.#open.get(familyId) ?? 0;
  }

  /** Takes places of the family if so many of its `max` are free. */
  take(familyId: string, max: number, count = 1): boolean {
    const open = this.openOf(familyId);
    if (open + count > max) return false;
    this.#open.set(familyId, open + count);
    return true;
  }

  /** Gives places back that were taken. */
  giveBack(familyId: string, count = 1): void {
    const open = this.openOf(familyId);
    if (open > count) this.#open.set(familyId, open - count);
    else this.#open.delete(familyId);
  }
}
