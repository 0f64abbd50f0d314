import { Failure } from '../protocol/errors.ts';
import { isUsable, type KeyDirectory } from './key-directory.ts';
import type { KeyId } from './key-record.ts';

export type KeyWatchOptions = Readonly<{
  /** How often keys that are in use are looked at for their expiry. */
  sweepIntervalMs: number;
  /** Unix milliseconds. */
  now: () => number;
}>;

/** How keys are watched when nothing else is said. */
export const keyWatchOptions: KeyWatchOptions = { sweepIntervalMs: 500, now: Date.now };

/** Called when the key no longer holds. Must not throw. */
export type KeyEnded = (failure: Failure) => void;

/**
 * Tells whoever uses a key for long when it ends: at once when it is revoked or disabled, within a sweep when it
 * expires. One timer for all, and none while nobody watches.
 */
export class KeyWatch {
  readonly #keys: KeyDirectory;
  readonly #options: KeyWatchOptions;
  readonly #watchers = new Map<KeyId, Set<KeyEnded>>();
  readonly #unlisten: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(keys: KeyDirectory, options: Partial<KeyWatchOptions> = {}) {
    this.#keys = keys;
    this.#options = { ...keyWatchOptions, ...options };
    this.#unlisten = keys.onChange(({ id }) => this.#check(id));
  }

  /** Keys that are watched. */
  get size(): number {
    return this.#watchers.size;
  }

  /**
   * Watches a key that is usable now. Each `onEnd` is called at most once.
   * @returns what ends the watch.
   */
  watch(id: KeyId, onEnd: KeyEnded): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    watchers.add(onEnd);
    this.#watchers.set(id, watchers);
    this.#timer ??= setInterval(() => this.#sweep(), this.#options.sweepIntervalMs).unref();
    return () => {
      watchers.delete(onEnd);
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#forget(id);
    };
  }

  /** Ends every watch without a word. */
  close(): void {
    this.#unlisten();
    for (const id of [...this.#watchers.keys()]) this.#forget(id);
  }

  #forget(id: KeyId): void {
    this.#watchers.delete(id);
    if (this.#watchers.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #sweep(): void {
    for (const id of this.#watchers.keys()) this.#check(id);
  }

  #check(id: KeyId): void {
    const watchers = this.#watchers.get(id);
    if (watchers === undefined) return;
    const record = this.#keys.find(id);
    if (record !== undefined && isUsable(record, this.#options.now())) return;
    this.#forget(id);
    for (const onEnd of watchers) onEnd(new Failure('INVALID_KEY'));
  }
}
