import type { KeyId } from '../auth/key-record.ts';

/** When a key was used last, and from where. */
export type LastUse = Readonly<{
  keyId: KeyId;
  /** Unix milliseconds. */
  at: number;
  /** The client's address; null where only messages were sent on an open connection. */
  from: string | null;
}>;

/** Last use of one key, and what of it is saved. */
export type UseEntry = {
  tracker: LastUsedTracker | null;
  at: number;
  from: string | null;
  savedAt: number;
  savedFrom: string | null;
};

/** Where a key caches its entry. */
type UseCache = { lastUse: UseEntry | null };

/** What holds when nothing else is said. */
export const lastUsedOptions = { keysMax: 200_000, minIntervalMs: 20_000 } as const;

export type LastUsedOptions = Readonly<{
  /** Keys that are remembered; the use of others is not noted until some have been idle. */
  keysMax?: number;
  /** A key that goes on from the same address is told no more often, in milliseconds. */
  minIntervalMs?: number;
}>;

/** The last use of each key since it was told. To note one allocates nothing but for a key's first. */
export class LastUsedTracker {
  readonly #uses = new Map<KeyId, UseEntry>();
  readonly #keysMax: number;
  readonly #minIntervalMs: number;

  constructor(options: LastUsedOptions = {}) {
    const { keysMax, minIntervalMs } = { ...lastUsedOptions, ...options };
    this.#keysMax = keysMax;
    this.#minIntervalMs = minIntervalMs;
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#uses.size;
  }

  /** @param from - null: from where it was before. @param nowMs - Unix milliseconds. @param seat - the key's. */
  record(id: KeyId, from: string | null, nowMs: number, keyState: UseCache | null = null): void {
    const cached = keyState === null ? null : keyState.lastUse;
    const use = cached !== null && cached.tracker === this ? cached : this.#findOrCreate(id, keyState);
    if (use === null) return;
    use.at = nowMs;
    if (from !== null) use.from = from;
  }

  /** null: there is no room for another. */
  #findOrCreate(id: KeyId, keyState: UseCache | null): UseEntry | null {
    const use = this.#uses.get(id) ?? this.#create(id);
    if (keyState !== null) keyState.lastUse = use;
    return use;
  }

  #create(id: KeyId): UseEntry | null {
    if (this.#uses.size >= this.#keysMax) return null;
    const use: UseEntry = { tracker: this, at: 0, from: null, savedAt: 0, savedFrom: null };
    this.#uses.set(id, use);
    return use;
  }

  /**
   * What is to be told: uses from another address than was told, or a step later; and the last one of a key that has been
   * idle for a step. @param nowMs - Unix milliseconds.
   */
  unsaved(nowMs: number): LastUse[] {
    const uses: LastUse[] = [];
    for (const [keyId, { at, from, savedAt, savedFrom }] of this.#uses) {
      const isLast = at !== savedAt && nowMs - at > this.#minIntervalMs;
      if (isLast || at >= savedAt + this.#minIntervalMs || from !== savedFrom) uses.push({ keyId, at, from });
    }
    return uses;
  }

  /** Says that these were stored. */
  markSaved(uses: readonly LastUse[]): void {
    for (const { keyId, at, from } of uses) {
      const use = this.#uses.get(keyId);
      if (use === undefined) continue;
      use.savedAt = at;
      use.savedFrom = from;
    }
  }

  /** Forgets keys whose last use is told, and which are idle. @param nowMs - Unix milliseconds. */
  evictIdle(nowMs: number): void {
    for (const [keyId, use] of this.#uses) {
      const { at, from, savedAt, savedFrom } = use;
      if (at !== savedAt || from !== savedFrom || nowMs - at <= this.#minIntervalMs) continue;
      use.tracker = null;
      this.#uses.delete(keyId);
    }
  }
}
