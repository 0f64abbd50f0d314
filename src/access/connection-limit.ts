/** Places for long connections, counted per key family in this process. */
export class ConnectionLimit {
  readonly #open = new Map<string, number>();

  /** Connections that the family holds. */
  openOf(familyId: string): number {
    return this.#open.get(familyId) ?? 0;
  }

  /** Takes a place of the family if one of its `max` is free. */
  take(familyId: string, max: number): boolean {
    const open = this.openOf(familyId);
    if (open >= max) return false;
    this.#open.set(familyId, open + 1);
    return true;
  }

  /** Gives a place back that was taken. */
  giveBack(familyId: string): void {
    const open = this.openOf(familyId);
    if (open > 1) this.#open.set(familyId, open - 1);
    else this.#open.delete(familyId);
  }
}
