/**
 * Finds gateways that tell nothing any more: those whose row has not changed for a while, by the clock of this process
 * alone. Times that other machines wrote are only held against each other, so it does not matter whose clock is wrong.
 */
export class DeadGatewayDetector {
  readonly #afterMs: number;
  /** What each wrote last, and when that was noticed. */
  readonly #observed = new Map<string, Readonly<{ seenAt: number; at: number }>>();
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** @param afterMs - so long a gateway may say nothing. */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /**
   * @param rows - all gateways as they stand in the store.
   * @param now - `performance.now()`.
   * @returns ids of those that are silent.
   */
  findDead(rows: readonly Readonly<{ id: string; seen_at: number }>[], now: number): string[] {
    // Whoever has not looked for so long itself, or could not, knows nothing of the others.
    if (now - this.#checkedAt > this.#afterMs) this.#observed.clear();
    this.#checkedAt = now;
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of this.#observed.keys()) if (!ids.has(id)) this.#observed.delete(id);
    return rows.flatMap(({ id, seen_at: seenAt }) => {
      const last = this.#observed.get(id);
      if (last?.seenAt === seenAt) return now - last.at > this.#afterMs ? [id] : [];
      this.#observed.set(id, { seenAt, at: now });
      return [];
    });
  }
}
