import type { KeyId } from './key-record.ts';
import type { KeySeat } from './key-seat.ts';

/** When a key was used last, and from where. */
export type LastUse = Readonly<{
  keyId: KeyId;
  /** Unix milliseconds. */
  at: number;
  /** The client's address; null where only messages were sent on an open connection. */
  from: string | null;
}>;

type Use = {
  owner: KeyUses | null;
  at: number;
  from: string | null;
  toldAt: number;
  toldFrom: string | null;
};

/** What holds when nothing else is said. */
export const keyUsesOptions = { keysMax: 200_000, stepMs: 20_000 } as const;

export type KeyUsesOptions = Readonly<{
  /** Keys that are remembered; the use of others is not noted until some have been idle. */
  keysMax?: number;
  /** A key that goes on from the same address is told no more often, in milliseconds. */
  stepMs?: number;
}>;

/** The last use of each key since it was told. To note one allocates nothing but for a key's first. */
export class KeyUses {
  readonly #uses = new Map<KeyId, Use>();
  readonly #keysMax: number;
  readonly #stepMs: number;

  constructor(options: KeyUsesOptions = {}) {
    const { keysMax, stepMs } = { ...keyUsesOptions, ...options };
    this.#keysMax = keysMax;
    this.#stepMs = stepMs;
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#uses.size;
  }

  /** @param from - null: from where it was before. @param nowMs - Unix milliseconds. @param seat - the key's. */
  note(id: KeyId, from: string | null, nowMs: number, seat: KeySeat | null = null): void {
    const seated = seat === null ? null : (seat.use as Use | null);
    const use = seated !== null && seated.owner === this ? seated : this.#useOf(id, seat);
    if (use === null) return;
    use.at = nowMs;
    if (from !== null) use.from = from;
  }

  /** null: there is no room for another. */
  #useOf(id: KeyId, seat: KeySeat | null): Use | null {
    const use = this.#uses.get(id) ?? this.#begin(id);
    if (seat !== null) seat.use = use;
    return use;
  }

  #begin(id: KeyId): Use | null {
    if (this.#uses.size >= this.#keysMax) return null;
    const use: Use = { owner: this, at: 0, from: null, toldAt: 0, toldFrom: null };
    this.#uses.set(id, use);
    return use;
  }

  /**
   * What is to be told: uses from another address than was told, or a step later; and the last one of a key that has been
   * idle for a step. @param nowMs - Unix milliseconds.
   */
  untold(nowMs: number): LastUse[] {
    const uses: LastUse[] = [];
    for (const [keyId, { at, from, toldAt, toldFrom }] of this.#uses) {
      const isLast = at !== toldAt && nowMs - at > this.#stepMs;
      if (isLast || at >= toldAt + this.#stepMs || from !== toldFrom) uses.push({ keyId, at, from });
    }
    return uses;
  }

  /** Says that these were stored. */
  told(uses: readonly LastUse[]): void {
    for (const { keyId, at, from } of uses) {
      const use = this.#uses.get(keyId);
      if (use === undefined) continue;
      use.toldAt = at;
      use.toldFrom = from;
    }
  }

  /** Forgets keys whose last use is told, and which are idle. @param nowMs - Unix milliseconds. */
  forgetIdle(nowMs: number): void {
    for (const [keyId, use] of this.#uses) {
      const { at, from, toldAt, toldFrom } = use;
      if (at !== toldAt || from !== toldFrom || nowMs - at <= this.#stepMs) continue;
      use.owner = null;
      this.#uses.delete(keyId);
    }
  }
}
