import { Failure } from '../../protocol/errors.ts';
import { isUsable, type KeyAuthenticator } from './key-authenticator.ts';
import type { KeyId, KeyRecord } from './key-record.ts';
import { type KeyUse, rejectionOf } from './key-rules.ts';
import type { LoadedKey } from './key-state.ts';

const keyWatchOptions = { sweepIntervalMs: 500, now: Date.now };

export type KeyWatchOptions = Readonly<typeof keyWatchOptions>;

/** @returns why a valid key may not be used, such as exhausted credits; null if it may be used. */
export type UseRejection = (key: KeyRecord, nowMs: number) => Failure | null;
type KeyWatchParts = KeyWatchOptions & Readonly<{ rejection: UseRejection }>;

/** Called when the key becomes invalid, runs out of credits or no longer allows this use. Must not throw. */
export type OnKeyEnd = (failure: Failure) => void;

type WatchedKey = Pick<LoadedKey, 'id' | 'tokenExpiresAt'>;
type Watcher = Readonly<{ use: KeyUse; endsAtMs: number; onEnd: OnKeyEnd }>;

/**
 * Notifies long-lived connections when their key becomes unusable. Revocation, disabling and new rules take effect at
 * once; expiry and exhausted credits take effect at the next sweep. All watches share one timer.
 */
export class KeyWatch {
  readonly #keys: KeyAuthenticator;
  readonly #options: KeyWatchParts;
  readonly #watchers = new Map<KeyId, Set<Watcher>>();
  readonly #unlisten: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(keys: KeyAuthenticator, options: Partial<KeyWatchOptions> & Pick<KeyWatchParts, 'rejection'>) {
    this.#keys = keys;
    this.#options = { ...keyWatchOptions, ...options };
    this.#unlisten = keys.onChange(({ id }) => this.#check(id, true));
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Calls `onEnd` at most once. @returns a function that ends the watch. */
  watch({ id, tokenExpiresAt = Infinity }: WatchedKey, use: KeyUse, onEnd: OnKeyEnd): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    const watcher = { use, endsAtMs: tokenExpiresAt, onEnd };
    watchers.add(watcher);
    this.#watchers.set(id, watchers);
    this.#timer ??= setInterval(() => this.#sweep(), this.#options.sweepIntervalMs).unref();
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#unwatch(id);
    };
  }

  close(): void {
    this.#unlisten();
    for (const id of [...this.#watchers.keys()]) this.#unwatch(id);
  }

  #unwatch(id: KeyId): void {
    this.#watchers.delete(id);
    if (this.#watchers.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #sweep(): void {
    for (const id of this.#watchers.keys()) this.#check(id, false);
  }

  /** @param isChanged - whether the key's rules may have changed. */
  #check(id: KeyId, isChanged: boolean): void {
    const watchers = this.#watchers.get(id);
    if (watchers === undefined) return;
    const record = this.#keys.find(id);
    const nowMs = this.#options.now();
    const rejection =
      record === undefined || !isUsable(record, nowMs)
        ? new Failure('INVALID_KEY')
        : this.#options.rejection(record, nowMs);
    if (rejection !== null) {
      this.#unwatch(id);
      for (const { onEnd } of watchers) onEnd(rejection);
    } else if (record !== undefined) this.#checkUses(record, watchers, isChanged, nowMs);
  }

  #checkUses(record: KeyRecord, watchers: Set<Watcher>, isChanged: boolean, nowMs: number): void {
    for (const watcher of watchers) {
      const hasEnded = nowMs >= watcher.endsAtMs;
      if (!hasEnded && !isChanged) continue;
      const rejection = hasEnded ? new Failure('INVALID_KEY') : rejectionOf(record, watcher.use);
      if (rejection === null) continue;
      watchers.delete(watcher);
      watcher.onEnd(rejection);
    }
    if (watchers.size === 0) this.#unwatch(record.id);
  }
}
