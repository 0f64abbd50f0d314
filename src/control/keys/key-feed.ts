import type { KeyRecord } from '../../gateway/auth/key-record.ts';
import type { Store } from '../database/open.ts';
import { StoreHangsError } from '../database/store-unavailable.ts';
import type { StoreWatch } from '../database/store-watch.ts';
import { keysChangedAfter, keysOfPlansChangedAfter, newestVersion } from './key-rows.ts';

/** Who is told of the keys: access/key-directory.ts. */
export interface KeySink {
  apply(records: readonly KeyRecord[]): unknown;
  /** While false, an id that is not in the directory may be a new one. */
  setStoreReachable(reachable: boolean): void;
}

export type KeyFeedOptions = Readonly<{
  store: Store;
  sink: KeySink;
  /** How often changes are looked for: one row of one table is read. */
  pollIntervalMs?: number;
  /** A look that takes longer counts as the store being away. */
  awayAfterMs?: number;
  /** Keys read at once. */
  pageRows?: number;
  /** Hears of each change between reachable and not; the error is the driver's own. */
  onStoreState?: (state: 'back' | 'away', error?: unknown) => void;
}>;

/** What holds when nothing else is said. A change must be in force within a second, so looks are well below. */
export const keyFeedOptions = { pollIntervalMs: 250, awayAfterMs: 3_000, pageRows: 1_000 } as const;

/** How many times as long as a small answer a page of keys may take at most. */
const TIMEOUT_FACTOR_MAX = 8;

/**
 * Carries every change of a key from the store into memory: all keys that are not spent at first, then what has
 * a greater version than the last seen. A failure leaves the keys that are known as they are and is tried again
 * at the next look.
 */
export class KeyFeed {
  readonly #store: Store;
  readonly #sink: KeySink;
  readonly #pollIntervalMs: number;
  readonly #awayAfterMs: number;
  readonly #pageRows: number;
  readonly #onStoreState: NonNullable<KeyFeedOptions['onStoreState']>;
  readonly #watch: StoreWatch | null;
  #version = 0;
  /** Whether keys were handed on: the end of one of those must not be passed over. */
  #hasApplied = false;
  #state: 'unknown' | 'back' | 'away' = 'unknown';
  #polling: Promise<void> | null = null;
  #pollStartedAt = 0;
  #again = false;
  /** How many times as long as a small answer the next page may take. */
  #timeoutFactor = 1;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: KeyFeedOptions) {
    this.#store = options.store;
    this.#sink = options.sink;
    this.#pollIntervalMs = options.pollIntervalMs ?? keyFeedOptions.pollIntervalMs;
    this.#awayAfterMs = options.awayAfterMs ?? keyFeedOptions.awayAfterMs;
    this.#pageRows = options.pageRows ?? keyFeedOptions.pageRows;
    this.#onStoreState = options.onStoreState ?? (() => undefined);
    this.#watch = this.#store.watch?.(() => this.wake()) ?? null;
  }

  /** Loads all keys, then watches. Resolves after the first attempt, whether the store answered or not. */
  async start(): Promise<void> {
    const first = this.#poll();
    this.#timer = setInterval(() => this.#tick(), this.#pollIntervalMs);
    await first;
  }

  /** Looks for changes; resolves when what was in the store at the call has been handed on, or could not be. */
  async refresh(): Promise<void> {
    await this.#polling;
    await (this.#polling ?? this.#poll());
  }

  /** Looks for changes now, or once more as soon as the look under way is over. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#polling === null) void this.#poll();
    else this.#again = true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#watch?.close();
    await this.#polling;
  }

  #tick(): void {
    if (this.#polling === null) void this.#poll();
    else if (this.#pollElapsedMs() > this.#awayAfterMs) this.#report('away');
  }

  #pollElapsedMs(): number {
    return performance.now() - this.#pollStartedAt;
  }

  #poll(): Promise<void> {
    this.#pollStartedAt = performance.now();
    this.#polling = this.#pollUntilCurrent().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  async #pollUntilCurrent(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#readChanges();
        this.#report('back');
      } catch (error) {
        // A connection that fell silent is given up by now, and the server may well answer over another.
        this.#again = error instanceof StoreHangsError && this.#pollElapsedMs() < this.#awayAfterMs;
        if (this.#again) continue;
        this.#report('away', error);
        return;
      }
    } while (this.#again && !this.#stopped);
  }

  async #readChanges(): Promise<void> {
    this.#store.checkNotReplaced();
    // What others wait for in the pool, and connections of it that fell silent, must not hold up a revocation.
    const source = this.#watch ?? this.#store;
    const readNewest = (): Promise<number> => newestVersion(source);
    const newest = await (this.#watch?.withDeadline(readNewest) ?? readNewest());
    if (newest !== this.#version) await this.#readPages(source, newest);
    this.#timeoutFactor = 1;
  }

  async #readPages(source: Pick<Store, 'db'>, newest: number): Promise<void> {
    const since = this.#version;
    const notExpiredAt = this.#hasApplied ? null : Date.now();
    for await (const page of this.#pagesWithDeadline(
      keysChangedAfter(source, since, this.#pageRows, notExpiredAt),
    )) {
      this.#hasApplied = true;
      this.#sink.apply(page);
    }
    if (since > 0) {
      const pages = keysOfPlansChangedAfter(source, since, this.#pageRows);
      for await (const page of this.#pagesWithDeadline(pages)) this.#sink.apply(page);
    }
    this.#version = newest;
  }

  /** Pages, none of them late: a server that is slow gets more time with each look. */
  async *#pagesWithDeadline<Page>(pages: AsyncGenerator<Page>): AsyncGenerator<Page> {
    const next = () => pages.next();
    try {
      for (;;) {
        const { done, value } = await (this.#watch?.withDeadline(next, this.#timeoutFactor) ?? next());
        if (done === true) return;
        yield value;
      }
    } catch (error) {
      if (error instanceof StoreHangsError)
        this.#timeoutFactor = Math.min(2 * this.#timeoutFactor, TIMEOUT_FACTOR_MAX);
      throw error;
    }
  }

  #report(state: 'back' | 'away', error?: unknown): void {
    if (this.#stopped || state === this.#state) return;
    this.#state = state;
    this.#sink.setStoreReachable(state === 'back');
    this.#onStoreState(state, error);
  }
}
