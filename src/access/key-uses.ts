import type { KeyId } from './key-record.ts';

/** When a key was used last, and from where. */
export type LastUse = Readonly<{
  keyId: KeyId;
  /** Unix milliseconds. */
  at: number;
  /** The client's address; null where only messages were sent on an open connection. */
  from: string | null;
}>;

type Use = { at: number; from: string | null; toldAt: number; toldFrom: string | null };

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

  /** @param from - null: from where it was before. @param nowMs - Unix milliseconds. */
  note(id: KeyId, from: string | null, nowMs: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) {
      if (this.#uses.size < this.#keysMax) this.#uses.set(id, { at: nowMs, from, toldAt: 0, toldFrom: null });
      return;
    }
    use.at = nowMs;
    if (from !== null) use.from = from;
  }

  /** What is to be told: uses from another address than was told, or a step later. */
  untold(): LastUse[] {
    const uses: LastUse[] = [];
    for (const [keyId, { at, from, toldAt, toldFrom }] of this.#uses) {
      if (at >= toldAt + this.#stepMs || from !== toldFrom) uses.push({ keyId, at, from });
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
    for (const [keyId, { at, from, toldAt, toldFrom }] of this.#uses) {
      if (at === toldAt && from === toldFrom && nowMs - at > this.#stepMs) this.#uses.delete(keyId);
    }
  }
}
