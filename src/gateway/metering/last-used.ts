import type { KeyId } from '../auth/key-record.ts';

export type LastUse = Readonly<{
  keyId: KeyId;
  /** Unix milliseconds. */
  at: number;
  /** Client address; null if only messages were sent on an open connection. */
  from: string | null;
}>;

export type UseEntry = {
  tracker: LastUsedTracker | null;
  at: number;
  from: string | null;
  savedAt: number;
  savedFrom: string | null;
};

type UseCache = { lastUse: UseEntry | null };

export const lastUsedOptions = {
  /** Maximum number of tracked keys; further keys are ignored until some are evicted. */
  keysMax: 200_000,
  /** Minimum time between saves of a key's last use, unless its client address changes. */
  minIntervalMs: 20_000,
};

/** Tracks the last use of each key until the use is saved and the key is idle. Allocates only on a key's first use. */
export class LastUsedTracker {
  readonly #uses = new Map<KeyId, UseEntry>();
  readonly #keysMax: number;
  readonly #minIntervalMs: number;

  constructor(options: Partial<typeof lastUsedOptions> = {}) {
    const { keysMax, minIntervalMs } = { ...lastUsedOptions, ...options };
    this.#keysMax = keysMax;
    this.#minIntervalMs = minIntervalMs;
  }

  get size(): number {
    return this.#uses.size;
  }

  /** @param from - client address; null: unchanged. @param nowMs - Unix milliseconds. */
  record(id: KeyId, from: string | null, nowMs: number, keyState: UseCache | null = null): void {
    const cached = keyState === null ? null : keyState.lastUse;
    const use = cached !== null && cached.tracker === this ? cached : this.#findOrCreate(id, keyState);
    if (use === null) return;
    use.at = nowMs;
    if (from !== null) use.from = from;
  }

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

  /** Lists the uses to save. A use is due when its address changes, its key is idle, or `minIntervalMs` has passed. */
  unsaved(nowMs: number): LastUse[] {
    const uses: LastUse[] = [];
    for (const [keyId, { at, from, savedAt, savedFrom }] of this.#uses) {
      const isLast = at !== savedAt && nowMs - at > this.#minIntervalMs;
      if (isLast || at >= savedAt + this.#minIntervalMs || from !== savedFrom) uses.push({ keyId, at, from });
    }
    return uses;
  }

  markSaved(uses: readonly LastUse[]): void {
    for (const { keyId, at, from } of uses) {
      const use = this.#uses.get(keyId);
      if (use === undefined) continue;
      use.savedAt = at;
      use.savedFrom = from;
    }
  }

  evictIdle(nowMs: number): void {
    for (const [keyId, use] of this.#uses) {
      const { at, from, savedAt, savedFrom } = use;
      if (at !== savedAt || from !== savedFrom || nowMs - at <= this.#minIntervalMs) continue;
      use.tracker = null;
      this.#uses.delete(keyId);
    }
  }
}
