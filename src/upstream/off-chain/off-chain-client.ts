import type { JsonValue } from '../../base/json.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { AddressRules } from './address-rules.ts';
import { createResolve, type Resolve } from './checked-connect.ts';
import { DiskCache } from './disk-cache.ts';
import { documentIn, parseDocument } from './document.ts';
import { HostClient } from './exchange.ts';
import { type Fetched, Fetcher } from './fetcher.ts';
import { HostLanes } from './host-lanes.ts';
import { type OffChainLimits, type OffChainRules, offChainLimits, offChainRules } from './limits.ts';
import { MemoryCache } from './memory-cache.ts';
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
type Flight = {
  document: Promise<Buffer | null>;
  readonly controller: AbortController;
  consumers: number;
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
const GIVEN_UP = new Error('no longer wanted');

/** What each end of a fetch is counted as. */
const ends = {
  document: 'documents',
  absent: 'absent',
  failed: 'failed',
  'not-asked': 'notAsked',
} as const satisfies Record<Fetched['kind'], keyof OffChainCounts>;

/**
 * Reads JSON that tokens and NFTs point at. Who wrote the URIs is unknown, and so is who answers: what is asked, where
 * connections lead, and what is taken in are all bounded, and every failure is a document that is absent.
 */
export class OffChainClient {
  readonly counts: OffChainCounts = {
    ...{ fromMemory: 0, fromDisk: 0, fetches: 0 },
    ...{ documents: 0, absent: 0, failed: 0, notAsked: 0 },
  };
  readonly lanes: HostLanes;
  readonly #limits: OffChainLimits;
  readonly #rules: OffChainRules;
  readonly #now: () => number;
  readonly #hosts: HostClient;
  readonly #fetcher: Fetcher;
  readonly #memory: MemoryCache;
  readonly #disk: DiskCache | null;
  readonly #flights = new Map<string, Flight>();
  #closed = false;

  private constructor(options: OffChainOptions, limits: OffChainLimits, disk: DiskCache | null) {
    this.#limits = limits;
    this.#rules = { ...offChainRules, ...options.rules };
    this.#now = options.now ?? Date.now;
    this.#disk = disk;
    this.#memory = new MemoryCache(limits.memoryMaxBytes, this.#now);
    const resolve = options.resolve ?? createResolve(limits.resolveTimeoutMs);
    this.lanes = new HostLanes(limits);
    this.#hosts = new HostClient(limits, { resolve, rules: new AddressRules(this.#rules.allowedNetworks) });
    this.#fetcher = new Fetcher(this.#hosts, this.lanes, limits, this.#rules.ports);
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
    return this.#flights.size;
  }

  /**
   * @param uris - those wanted; each is fetched at most once at a time, whoever asks.
   * @returns what was there, for each that could be had in time. It never rejects.
   */
  async read(uris: Iterable<string>, signal: AbortSignal): Promise<ReadonlyMap<string, JsonValue>> {
    const found = new Map<string, JsonValue>();
    const over = new AbortController();
    const end = (): void => over.abort(GIVEN_UP);
    const timer = setTimeout(end, this.#limits.timeoutMs);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    let room = this.#limits.readingMaxBytes;
    const take = (uri: string, document: Buffer | null): void => {
      room -= document?.length ?? 0;
      if (document !== null && room >= 0) found.set(uri, parseDocument(document));
    };
    const coming: Promise<void>[] = [];
    for (const uri of this.#wanted(uris)) {
      const document = this.#document(uri, over.signal);
      if (document instanceof Promise) coming.push(document.then((came) => take(uri, came)));
      else take(uri, document);
    }
    await Promise.all(coming);
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    return found;
  }

  /** Forgets what is kept of a URI, so that the next `read` fetches it. */
  forget(uri: string): void {
    this.#memory.delete(uri);
    void this.#disk?.delete(uri);
    const flight = this.#flights.get(uri);
    if (flight === undefined) return;
    flight.forgotten = true;
    this.#flights.delete(uri);
  }

  /** Gives up what is under way, and waits until what has come is on the disk. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { controller } of this.#flights.values()) controller.abort(GIVEN_UP);
    await this.#hosts.close();
    await this.#disk?.settled();
  }

  #wanted(uris: Iterable<string>): ReadonlySet<string> {
    const wanted = new Set<string>();
    for (const uri of uris) {
      if (wanted.size >= this.#limits.urisMax) break;
      wanted.add(uri);
    }
    return wanted;
  }

  /** The document of a URI, as soon as it can be had; null when there is none, or none before the signal. */
  #document(uri: string, signal: AbortSignal): Promise<Buffer | null> | Buffer | null {
    const target = targetOf(uri, this.#rules, this.#limits);
    if (target === null || signal.aborted || this.#closed) return null;
    if (target.kind === 'inline') return documentIn(target.bytes, this.#limits);
    const kept = this.#memory.get(uri);
    if (kept !== null) {
      this.counts.fromMemory++;
      return kept.document;
    }
    const flight = this.#flights.get(uri) ?? this.#begin(uri, target.urls);
    return flight === null ? null : this.#join(uri, flight, signal);
  }

  /** Waits for the flight of the URI with all others who do. The last who leaves ends it: so it has the time of each. */
  async #join(uri: string, flight: Flight, signal: AbortSignal): Promise<Buffer | null> {
    flight.consumers++;
    try {
      return await unlessAborted(flight.document, signal);
    } catch {
      return null;
    } finally {
      if (--flight.consumers === 0) this.#end(uri, flight);
    }
  }

  /** Begins a flight, so that those under way are no more than have a place or wait for one, or a file. */
  #begin(uri: string, urls: readonly URL[]): Flight | null {
    const isOnDisk = this.#disk?.has(uri) ?? false;
    if (!isOnDisk && !urls.some(({ host }) => this.lanes.hasRoom(host))) {
      this.counts.notAsked++;
      return null;
    }
    const controller = new AbortController();
    const flight: Flight = { document: Promise.resolve(null), controller, consumers: 0, forgotten: false };
    flight.document = this.#load(uri, urls, flight);
    this.#flights.set(uri, flight);
    return flight;
  }

  #end(uri: string, flight: Flight): void {
    flight.controller.abort(GIVEN_UP);
    if (this.#flights.get(uri) === flight) this.#flights.delete(uri);
  }

  /** From the disk, or else from its host. Never rejects. */
  async #load(uri: string, urls: readonly URL[], flight: Flight): Promise<Buffer | null> {
    const kept = this.#disk?.has(uri) ? await this.#disk.get(uri) : null;
    if (kept !== null) {
      this.counts.fromDisk++;
      if (!flight.forgotten) this.#memory.set(uri, kept);
      return kept.document;
    }
    this.counts.fetches++;
    const fetched = await this.#fetcher.fetch(urls, flight.controller.signal);
    this.counts[ends[fetched.kind]]++;
    if (!flight.forgotten) this.#keep(uri, fetched);
    return fetched.kind === 'document' ? fetched.bytes : null;
  }

  #keep(uri: string, fetched: Fetched): void {
    const { documentKeptMs, absenceKeptMs, failureKeptMs } = this.#limits;
    if (fetched.kind === 'document') this.#keepFor(uri, fetched.bytes, documentKeptMs, this.#disk);
    if (fetched.kind === 'absent') this.#keepFor(uri, null, absenceKeptMs, this.#disk);
    if (fetched.kind === 'failed') this.#keepFor(uri, null, failureKeptMs, null);
  }

  #keepFor(uri: string, document: Buffer | null, ms: number, disk: DiskCache | null): void {
    const kept = { document, until: this.#now() + ms };
    this.#memory.set(uri, kept);
    void disk?.set(uri, kept);
  }
}
