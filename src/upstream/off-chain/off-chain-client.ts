import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import type { JsonValue } from '../../base/json.ts';
import { AddressRules } from './address-rules.ts';
import { createHostResolver, type ResolveHost } from './checked-connect.ts';
import { DiskCache } from './disk-cache.ts';
import { type CachedDocument, DocumentMemoryCache, documentIn, parseDocument } from './document.ts';
import { type ExchangeResult, HostClient } from './host-client.ts';
import { type HostOutcome, HostQueues } from './host-queues.ts';
import { type OffChainLimits, type OffChainRules, offChainLimits, offChainRules } from './limits.ts';
import { targetOf, webUrl } from './target.ts';

export type OffChainOptions = Readonly<{
  /** Cache folder; null: memory only. */
  folder: string | null;
  rules?: Partial<OffChainRules>;
  limits?: Partial<OffChainLimits>;
  resolve?: ResolveHost;
  /** Wall clock. */
  now?: () => number;
}>;

type PendingFetch = {
  /** The document on disk; null if there is none. */
  readonly cached: Promise<CachedDocument | null> | null;
  document: Promise<Buffer | null>;
  readonly controller: AbortController;
  waiters: number;
  /** `forget` was called for the URI, so the result is not cached. */
  forgotten: boolean;
};

/** Shared, because thousands of fetches may be aborted at once. */
const ABORTED = new Error('aborted');

const counterOf = {
  document: 'documents',
  absent: 'absent',
  failed: 'failed',
  skipped: 'skipped',
} as const satisfies Record<FetchResult['kind'], string>;

/**
 * Reads JSON that tokens and NFTs link to. URIs and hosts are untrusted: requests, destinations and sizes are
 * limited, and every failure counts as an absent document.
 */
export class OffChainClient {
  readonly counts = {
    fromMemory: 0,
    fromDisk: 0,
    fetches: 0,
    documents: 0,
    absent: 0,
    failed: 0,
    skipped: 0,
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
    const resolve = options.resolve ?? createHostResolver(limits.resolveTimeoutMs);
    this.queues = new HostQueues(limits);
    this.#hosts = new HostClient(limits, { resolve, rules: new AddressRules(this.#rules.allowedNetworks) });
    this.#fetcher = new Fetcher(this.#hosts, this.queues, limits, this.#rules.ports);
  }

  /** @throws RangeError for an invalid network; a system error if the folder is unusable. */
  static async open(options: OffChainOptions): Promise<OffChainClient> {
    const limits = { ...offChainLimits, ...options.limits };
    const { folder, now = Date.now } = options;
    const disk = folder === null ? null : await DiskCache.open(folder, limits, now);
    return new OffChainClient(options, limits, disk);
  }

  get inFlight(): number {
    return this.#pendingFetches.size;
  }

  /**
   * @param signal - null: returns what is cached, and loads the rest in the background.
   * @returns the documents available in time. Never rejects.
   */
  async read(uris: Iterable<string>, signal: AbortSignal | null): Promise<ReadonlyMap<string, JsonValue>> {
    const found = new Map<string, JsonValue>();
    const timeout = AbortSignal.timeout(this.#limits.timeoutMs);
    const ended = signal === null ? timeout : AbortSignal.any([signal, timeout]);
    let remainingBytes = this.#limits.readingMaxBytes;
    const read = async (uri: string): Promise<void> => {
      const document = await this.#document(uri, ended, signal !== null);
      remainingBytes -= document?.length ?? 0;
      if (document !== null && remainingBytes >= 0) found.set(uri, parseDocument(document));
    };
    await Promise.all([...new Set(uris)].slice(0, this.#limits.urisMax).map(read));
    return found;
  }

  isLoading(uri: string): boolean {
    return this.#pendingFetches.has(uri);
  }

  /** Makes the next `read` fetch the document again. */
  forget(uri: string): void {
    this.#memory.delete(uri);
    void this.#disk?.delete(uri);
    const pending = this.#pendingFetches.get(uri);
    if (pending === undefined) return;
    pending.forgotten = true;
    this.#pendingFetches.delete(uri);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { controller } of this.#pendingFetches.values()) controller.abort(ABORTED);
    await this.#hosts.close();
    await this.#disk?.settled();
  }

  async #document(uri: string, signal: AbortSignal, waits: boolean): Promise<Buffer | null> {
    const target = targetOf(uri, this.#rules, this.#limits);
    if (target === null || signal.aborted || this.#closed) return null;
    if (target.kind === 'inline') return documentIn(target.bytes, this.#limits);
    const cached = this.#memory.get(uri);
    if (cached !== null) {
      this.counts.fromMemory++;
      return cached.document;
    }
    const pending = this.#pendingFetches.get(uri) ?? this.#startFetch(uri, target.urls);
    if (pending === null) return null;
    const document = this.#join(uri, pending, signal);
    return waits ? document : ((await pending.cached)?.document ?? null);
  }

  /** Aborts the fetch when its last waiter stops waiting. */
  async #join(uri: string, pending: PendingFetch, signal: AbortSignal): Promise<Buffer | null> {
    pending.waiters++;
    try {
      return await unlessAborted(pending.document, signal);
    } catch {
      return null;
    } finally {
      if (--pending.waiters === 0) {
        pending.controller.abort(ABORTED);
        if (this.#pendingFetches.get(uri) === pending) this.#pendingFetches.delete(uri);
      }
    }
  }

  #startFetch(uri: string, urls: readonly URL[]): PendingFetch | null {
    const isOnDisk = this.#disk?.has(uri) ?? false;
    if (!isOnDisk && !urls.some(({ host }) => this.queues.canAccept(host))) {
      this.counts.skipped++;
      return null;
    }
    const controller = new AbortController();
    const document = Promise.resolve(null);
    const cached = this.#disk !== null && isOnDisk ? this.#disk.get(uri) : null;
    const pending: PendingFetch = { cached, document, controller, waiters: 0, forgotten: false };
    pending.document = this.#load(uri, urls, pending);
    this.#pendingFetches.set(uri, pending);
    return pending;
  }

  async #load(uri: string, urls: readonly URL[], pending: PendingFetch): Promise<Buffer | null> {
    const cached = pending.cached && (await pending.cached);
    if (cached !== null) {
      this.counts.fromDisk++;
      if (!pending.forgotten) this.#memory.set(uri, cached);
      return cached.document;
    }
    this.counts.fetches++;
    const fetched = await this.#fetcher.fetch(urls, pending.controller.signal);
    this.counts[counterOf[fetched.kind]]++;
    if (!pending.forgotten) {
      const { documentTtlMs, absenceTtlMs, failureTtlMs } = this.#limits;
      if (fetched.kind === 'document') this.#cacheFor(uri, fetched.bytes, documentTtlMs, this.#disk);
      if (fetched.kind === 'absent') this.#cacheFor(uri, null, absenceTtlMs, this.#disk);
      if (fetched.kind === 'failed') this.#cacheFor(uri, null, failureTtlMs, null);
    }
    return fetched.kind === 'document' ? fetched.bytes : null;
  }

  #cacheFor(uri: string, document: Buffer | null, ms: number, disk: DiskCache | null): void {
    const cached = { document, until: this.#now() + ms };
    this.#memory.set(uri, cached);
    void disk?.set(uri, cached);
  }
}

export type FetchResult =
  | Readonly<{ kind: 'document'; bytes: Buffer }>
  /** The document is absent and will probably stay absent for a while. */
  | Readonly<{ kind: 'absent' }>
  | Readonly<{ kind: 'failed' }>
  /** Nothing was requested, or the request was canceled. */
  | Readonly<{ kind: 'skipped' }>;

const NOT_REQUESTED = { kind: 'skipped' } as const;

/** A host that rejects a request still counts as healthy. */
function hostOutcomeOf(exchange: ExchangeResult, abortedAfterMs: number | null, slowMs: number): HostOutcome {
  const responded = exchange.kind !== 'failed' && exchange.kind !== 'broken' && exchange.kind !== 'forbidden';
  if (responded) return 'success';
  if (abortedAfterMs === null) return 'failure';
  return abortedAfterMs >= slowMs ? 'failure' : 'inconclusive';
}

class Fetcher {
  readonly #client: HostClient;
  readonly #queues: HostQueues;
  readonly #limits: OffChainLimits;
  readonly #ports: readonly number[];

  constructor(client: HostClient, queues: HostQueues, limits: OffChainLimits, ports: readonly number[]) {
    this.#client = client;
    this.#queues = queues;
    this.#limits = limits;
    this.#ports = ports;
  }

  /** The result is `absent` only if the document is absent at every URL; otherwise it may exist. Never rejects. */
  async fetch(urls: readonly URL[], signal: AbortSignal): Promise<FetchResult> {
    const kinds: FetchResult['kind'][] = [];
    for (const url of urls) {
      const result = await this.#follow(url, signal);
      if (result.kind === 'document') return result;
      kinds.push(result.kind);
    }
    // If the signal is aborted, the last request may be incomplete and does not count.
    const completed = signal.aborted ? kinds.slice(0, -1) : kinds;
    if (completed.every((kind) => kind === 'skipped')) return NOT_REQUESTED;
    return { kind: kinds.every((kind) => kind === 'absent') ? 'absent' : 'failed' };
  }

  async #follow(first: URL, signal: AbortSignal): Promise<FetchResult> {
    let url = first;
    for (let redirects = 0; redirects <= this.#limits.redirectsMax; redirects++) {
      const exchange = await this.#exchangeWithRetry(url, signal);
      if (exchange === null) return NOT_REQUESTED;
      if (exchange.kind === 'document') return exchange;
      if (exchange.kind !== 'redirect')
        return { kind: exchange.kind === 'absent' || exchange.kind === 'forbidden' ? 'absent' : 'failed' };
      const next = webUrl(exchange.location, this.#ports, url);
      if (next === null) return { kind: 'absent' };
      url = next;
    }
    return { kind: 'absent' };
  }

  /** Retries after a broken connection, because a host may close an idle connection just as it is reused. */
  async #exchangeWithRetry(url: URL, signal: AbortSignal): Promise<ExchangeResult | null> {
    let exchange: ExchangeResult | null = null;
    for (let tries = 0; tries < this.#limits.triesMax; tries++) {
      exchange = (await this.#exchange(url, signal)) ?? exchange;
      if (exchange?.kind !== 'broken') return exchange;
    }
    return exchange;
  }

  /** The permit is released before a redirect is followed, to avoid deadlocks. */
  async #exchange(url: URL, signal: AbortSignal): Promise<ExchangeResult | null> {
    const slot = await this.#queues.acquire(url.host, signal);
    if (slot === null) return null;
    const startedAt = performance.now();
    const exchange = await this.#client.get(url, signal);
    const abortedAfterMs = signal.aborted ? performance.now() - startedAt : null;
    slot.release(hostOutcomeOf(exchange, abortedAfterMs, this.#limits.slowMs));
    return exchange;
  }
}
