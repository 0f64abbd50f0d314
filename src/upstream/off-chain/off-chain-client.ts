import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import type { JsonValue } from '../../base/json.ts';
import { AddressRules } from './address-rules.ts';
import { createResolve, type Resolve } from './checked-connect.ts';
import { DiskCache } from './disk-cache.ts';
import { documentIn, parseDocument } from './document.ts';
import { DocumentMemoryCache } from './document-memory-cache.ts';
import { Fetcher, type FetchResult } from './fetcher.ts';
import { HostClient } from './host-client.ts';
import { HostQueues } from './host-queues.ts';
import { type OffChainLimits, type OffChainRules, offChainLimits, offChainRules } from './limits.ts';
import { targetOf } from './target.ts';

/** Where documents are kept, and what the operator has settled. */
export type OffChainOptions = Readonly<{
  /** Where documents are kept; null keeps them in memory only. */
  folder: string | null;
  rules?: Partial<OffChainRules>;
  limits?: Partial<OffChainLimits>;
  resolve?: Resolve;
  /** The wall clock. */
  now?: () => number;
}>;

/** A document that is being fetched, and how many wait for it. */
type PendingFetch = {
  document: Promise<Buffer | null>;
  readonly controller: AbortController;
  waiters: number;
  /** Its URI was forgotten meanwhile: what comes is for those who wait, and is not kept. */
  forgotten: boolean;
};

/** How reading came to its documents; only grows. */
export type OffChainCounts = {
  fromMemory: number;
  fromDisk: number;
  /** Fetches that were begun. */
  fetches: number;
  documents: number;
  absent: number;
  failed: number;
  notAsked: number;
};

/** Why a fetch was ended. One for all: thousands may end in the same moment. */
const ABORTED = new Error('no longer wanted');

/** What each end of a fetch is counted as. */
const ends = {
  document: 'documents',
  absent: 'absent',
  failed: 'failed',
  'not-asked': 'notAsked',
} as const satisfies Record<FetchResult['kind'], keyof OffChainCounts>;

/**
 * Reads JSON that tokens and NFTs point at. Who wrote the URIs is unknown, and so is who answers: what is asked, where
 * connections lead, and what is taken in are all bounded, and every failure is a document that is absent.
 */
export class OffChainClient {
  readonly counts: OffChainCounts = {
    ...{ fromMemory: 0, fromDisk: 0, fetches: 0 },
    ...{ documents: 0, absent: 0, failed: 0, notAsked: 0 },
  };
  readonly queues: HostQueues;
  readonly #limits: OffChainLimits;
  readonly #rules: OffChainRules;
  readonly #now: () => number;
  readonly #hosts: HostClient;
  readonly #fetcher: Fetcher;
  readonly #memory: DocumentMemoryCache;
  readonly #disk: DiskCache | null;
  readonly #pendingFetches = new Map<string, PendingFetch>();
  #closed = false;

  private constructor(options: OffChainOptions, limits: OffChainLimits, disk: DiskCache | null) {
    this.#limits = limits;
    this.#rules = { ...offChainRules, ...options.rules };
    this.#now = options.now ?? Date.now;
    this.#disk = disk;
    this.#memory = new DocumentMemoryCache(limits.memoryMaxBytes, this.#now);
    const resolve = options.resolve ?? createResolve(limits.resolveTimeoutMs);
    this.queues = new HostQueues(limits);
    this.#hosts = new HostClient(limits, { resolve, rules: new AddressRules(this.#rules.allowedNetworks) });
    this.#fetcher = new Fetcher(this.#hosts, this.queues, limits, this.#rules.ports);
  }

  /**
   * Opens the client and its folder.
   * @throws RangeError when a network of the rules is none; Error of the system when the folder cannot be used.
   */
  static async open(options: OffChainOptions): Promise<OffChainClient> {
    const limits = { ...offChainLimits, ...options.limits };
    const { folder, now = Date.now } = options;
    const disk = folder === null ? null : await DiskCache.open(folder, limits, now);
    return new OffChainClient(options, limits, disk);
  }

  /** Documents that are being fetched. */
  get inFlight(): number {
    return this.#pendingFetches.size;
  }

  /**
   * @param uris - those wanted; each is fetched at most once at a time, whoever asks.
   * @returns what was there, for each that could be had in time. It never rejects.
   */
  async read(uris: Iterable<string>, signal: AbortSignal): Promise<ReadonlyMap<string, JsonValue>> {
    const found = new Map<string, JsonValue>();
    const over = new AbortController();
    const end = (): void => over.abort(ABORTED);
    const timer = setTimeout(end, this.#limits.timeoutMs);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    let remainingBytes = this.#limits.readingMaxBytes;
    const take = (uri: string, document: Buffer | null): void => {
      remainingBytes -= document?.length ?? 0;
      if (document !== null && remainingBytes >= 0) found.set(uri, parseDocument(document));
    };
    const pendingReads: Promise<void>[] = [];
    for (const uri of this.#requested(uris)) {
      const document = this.#document(uri, over.signal);
      if (document instanceof Promise) pendingReads.push(document.then((loaded) => take(uri, loaded)));
      else take(uri, document);
    }
    await Promise.all(pendingReads);
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    return found;
  }

  /** Forgets what is kept of a URI, so that the next `read` fetches it. */
  forget(uri: string): void {
    this.#memory.delete(uri);
    void this.#disk?.delete(uri);
    const pending = this.#pendingFetches.get(uri);
    if (pending === undefined) return;
    pending.forgotten = true;
    this.#pendingFetches.delete(uri);
  }

  /** Gives up what is under way, and waits until what has come is on the disk. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { controller } of this.#pendingFetches.values()) controller.abort(ABORTED);
    await this.#hosts.close();
    await this.#disk?.settled();
  }

  #requested(uris: Iterable<string>): ReadonlySet<string> {
    const requested = new Set<string>();
    for (const uri of uris) {
      if (requested.size >= this.#limits.urisMax) break;
      requested.add(uri);
    }
    return requested;
  }

  /** The document of a URI, as soon as it can be had; null when there is none, or none before the signal. */
  #document(uri: string, signal: AbortSignal): Promise<Buffer | null> | Buffer | null {
    const target = targetOf(uri, this.#rules, this.#limits);
    if (target === null || signal.aborted || this.#closed) return null;
    if (target.kind === 'inline') return documentIn(target.bytes, this.#limits);
    const cached = this.#memory.get(uri);
    if (cached !== null) {
      this.counts.fromMemory++;
      return cached.document;
    }
    const pending = this.#pendingFetches.get(uri) ?? this.#startFetch(uri, target.urls);
    return pending === null ? null : this.#join(uri, pending, signal);
  }

  /** Waits for the flight of the URI with all others who do. The last who leaves ends it: so it has the time of each. */
  async #join(uri: string, pending: PendingFetch, signal: AbortSignal): Promise<Buffer | null> {
    pending.waiters++;
    try {
      return await unlessAborted(pending.document, signal);
    } catch {
      return null;
    } finally {
      if (--pending.waiters === 0) this.#end(uri, pending);
    }
  }

  /** Begins a flight, so that those under way are no more than have a place or wait for one, or a file. */
  #startFetch(uri: string, urls: readonly URL[]): PendingFetch | null {
    const isOnDisk = this.#disk?.has(uri) ?? false;
    if (!isOnDisk && !urls.some(({ host }) => this.queues.canAccept(host))) {
      this.counts.notAsked++;
      return null;
    }
    const controller = new AbortController();
    const pending: PendingFetch = {
      document: Promise.resolve(null),
      controller,
      waiters: 0,
      forgotten: false,
    };
    pending.document = this.#load(uri, urls, pending);
    this.#pendingFetches.set(uri, pending);
    return pending;
  }

  #end(uri: string, pending: PendingFetch): void {
    pending.controller.abort(ABORTED);
    if (this.#pendingFetches.get(uri) === pending) this.#pendingFetches.delete(uri);
  }

  /** From the disk, or else from its host. Never rejects. */
  async #load(uri: string, urls: readonly URL[], pending: PendingFetch): Promise<Buffer | null> {
    const cached = this.#disk?.has(uri) ? await this.#disk.get(uri) : null;
    if (cached !== null) {
      this.counts.fromDisk++;
      if (!pending.forgotten) this.#memory.set(uri, cached);
      return cached.document;
    }
    this.counts.fetches++;
    const fetched = await this.#fetcher.fetch(urls, pending.controller.signal);
    this.counts[ends[fetched.kind]]++;
    if (!pending.forgotten) this.#cacheResult(uri, fetched);
    return fetched.kind === 'document' ? fetched.bytes : null;
  }

  #cacheResult(uri: string, fetched: FetchResult): void {
    const { documentTtlMs, absenceKeptMs, failureKeptMs } = this.#limits;
    if (fetched.kind === 'document') this.#cacheFor(uri, fetched.bytes, documentTtlMs, this.#disk);
    if (fetched.kind === 'absent') this.#cacheFor(uri, null, absenceKeptMs, this.#disk);
    if (fetched.kind === 'failed') this.#cacheFor(uri, null, failureKeptMs, null);
  }

  #cacheFor(uri: string, document: Buffer | null, ms: number, disk: DiskCache | null): void {
    const cached = { document, until: this.#now() + ms };
    this.#memory.set(uri, cached);
    void disk?.set(uri, cached);
  }
}
