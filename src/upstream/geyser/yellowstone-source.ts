import { isDeepStrictEqual } from 'node:util';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import type { Logger } from '../../base/log.ts';
import { encodeSubscribeRequest, type SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { FilterSet, GeyserListener, GeyserSource } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { ObservedSlot } from '../slots/slot-tracker.ts';
import { EndpointConnection } from './endpoint-connection.ts';
import { GapRepair, type ReplayResult, replay } from './gap-repair.ts';
import type { GeyserNode } from './geyser-node.ts';
import { type GeyserSourceOptions, geyserSourceOptions } from './geyser-source-options.ts';
import { FilterMerger, fullRequest, type RequestedKinds, type RequestScope } from './merge-filters.ts';
import { UpdateMerge } from './update-merge.ts';

type BackfillWaiter = { readonly from: Slot; isCancelled: boolean };

/** A queued replay and its waiters. */
type SharedBackfill = { readonly waiters: BackfillWaiter[]; done: Promise<void> };

/**
 * Replays old slots with limited concurrency. Waiters of a queued replay share it, so each waits for at most
 * two replays; cancelled waiters are ignored. The number of streams that plans allow bounds the queue.
 */
export class Backfills {
  readonly #semaphore: Semaphore;
  readonly #replay: (from: Slot) => Promise<void>;
  #next: SharedBackfill | null = null;

  /**
   * @param max - concurrent replays.
   * @param replay - replays from a slot on. Never rejects.
   */
  constructor(max: number, replay: (from: Slot) => Promise<void>) {
    this.#semaphore = new Semaphore(max);
    this.#replay = replay;
  }

  /** Resolves after a replay from the slot on, as far as servers have it. Never rejects. */
  add(waiting: BackfillWaiter): Promise<void> {
    if (this.#next !== null) {
      this.#next.waiters.push(waiting);
      return this.#next.done;
    }
    const backfill: SharedBackfill = { waiters: [waiting], done: Promise.resolve() };
    this.#next = backfill;
    backfill.done = this.#semaphore.run(() => this.#start(backfill));
    return backfill.done;
  }

  async #start({ waiters }: SharedBackfill): Promise<void> {
    this.#next = null;
    let oldest: Slot | null = null;
    for (const { from, isCancelled } of waiters)
      if (!isCancelled && (oldest === null || from < oldest)) oldest = from;
    if (oldest !== null) await this.#replay(oldest);
  }
}

type YellowstoneSourceOptions = Readonly<{
  /** All servers are subscribed at once. */
  nodes: readonly GeyserNode[];
  /** Reads blocks where no server replays missing slots. */
  reader: Pick<ChainReader, 'slots' | 'eachBlock'>;
  /** The newest slot according to another source; null while unknown. */
  head?: () => ObservedSlot | null;
  options?: Partial<GeyserSourceOptions>;
  log: Logger;
}>;

const allKinds: RequestedKinds = { accounts: true, transactions: true, entries: true };
const CHECKS_PER_STALL = 10;

/**
 * Merges the Yellowstone streams of all nodes: the first copy of each update is emitted. Broken streams
 * reconnect while the others continue; missing slots are replayed, read from blocks, or reported lost.
 */
export class YellowstoneSource implements GeyserSource {
  readonly #options: YellowstoneSourceOptions;
  readonly #limits: GeyserSourceOptions;
  readonly #filterMerger: FilterMerger;
  readonly #merge: UpdateMerge;
  readonly #repair: GapRepair;
  #connections: readonly EndpointConnection[];
  readonly #backfills: Backfills;
  readonly #end = new AbortController();
  readonly #started = Promise.withResolvers<void>();
  readonly #repairTimer: NodeJS.Timeout;
  /** Resolves when servers have accepted the current request. */
  #requestApplied: Promise<void> = Promise.resolve();
  /** Slots up to this one may lack updates of the current request. */
  #narrowUpTo: Slot | null = null;

  constructor(options: YellowstoneSourceOptions, listener: GeyserListener) {
    this.#options = options;
    this.#limits = { ...geyserSourceOptions, ...options.options };
    const { reader, head = () => null, log } = options;
    const limits = this.#limits;
    this.#filterMerger = new FilterMerger(limits);
    this.#backfills = new Backfills(limits.backfillsMax, (from) => this.#replayAgain(from));
    const merge = new UpdateMerge({
      limits,
      listener,
      head,
      onStart: () => this.#started.resolve(),
      onWaiting: () => this.#repair.check(),
    });
    this.#merge = merge;
    this.#repair = new GapRepair({
      merge,
      reader,
      limits,
      log,
      listener,
      requestedKinds: () => (limits.demand === 'full' ? allKinds : this.#filterMerger.kinds),
      replay: (range) => this.#replay(range.from, range.to, false),
    });
    this.#connections = options.nodes.map((node) => this.#connectTo(node));
    this.#repairTimer = setInterval(() => this.#repair.check(), limits.stallMs / CHECKS_PER_STALL);
  }

  subscribe(request: SubscribeRequest, fromSlot: Slot | null): FilterSet {
    const before = this.#encodedRequest();
    const removeFilters = this.#filterMerger.add(request);
    if (!before.equals(this.#encodedRequest())) this.#updateRequests();
    const requestApplied = this.#requestApplied;
    const waiter = fromSlot === null ? null : { from: fromSlot, isCancelled: false };
    return {
      ready: waiter === null ? requestApplied : requestApplied.then(() => this.#backfill(waiter)),
      end: () => {
        if (waiter !== null) waiter.isCancelled = true;
        const previousRequest = this.#encodedRequest();
        removeFilters();
        // The remaining streams need no acknowledgement.
        if (!previousRequest.equals(this.#encodedRequest()))
          for (const connection of this.#connections) void connection.updateRequest();
      },
    };
  }

  /** Replaces the servers; streams of unchanged nodes continue. */
  setNodes(nodes: readonly GeyserNode[]): void {
    if (this.#end.signal.aborted) return;
    const before = this.#connections;
    this.#connections = nodes.map(
      (node) =>
        before.find((connection) => isDeepStrictEqual(connection.node, node)) ?? this.#connectTo(node),
    );
    for (const connection of before) if (!this.#connections.includes(connection)) connection.close();
  }

  /** Ends every stream without notifying the listener. */
  close(): void {
    clearInterval(this.#repairTimer);
    this.#end.abort();
    this.#repair.close();
    for (const connection of this.#connections) connection.close();
    this.#started.resolve();
  }

  #connectTo(node: GeyserNode): EndpointConnection {
    const merge = this.#merge;
    return new EndpointConnection({
      node,
      limits: this.#limits,
      log: this.#options.log,
      request: (scope) => this.#request(scope),
      resumeAt: () => this.#resumeAt(),
      addReader: (from, seals) => merge.addReader({ from, tip: merge.newest, fillsIn: false, seals }),
      removeReader: (reader) => merge.removeReader(reader),
    });
  }

  #request(scope: RequestScope): SubscribeRequest {
    return this.#limits.demand === 'full' ? fullRequest(scope) : this.#filterMerger.request(scope);
  }

  #encodedRequest(): Buffer {
    return Buffer.from(encodeSubscribeRequest(this.#request('exact')));
  }

  /** Waits for connected servers only, unless all are down: `Promise.race` of no promises never settles. */
  #updateRequests(): void {
    const up = this.#connections.map((connection) => connection.isUp);
    const waits = this.#connections.map((connection) => connection.updateRequest());
    const areAllDown = waits.length > 0 && !up.includes(true);
    const requestApplied = areAllDown ? Promise.race(waits) : Promise.all(waits.filter((_, at) => up[at]));
    const before = this.#requestApplied;
    this.#requestApplied = Promise.all([before, requestApplied]).then(() => {
      this.#narrowUpTo = this.#merge.newestStarted;
    });
  }

  /** First slot of a stream that replaces a broken one. */
  #resumeAt(): Slot | null {
    const { newest } = this.#merge;
    if (newest === null) return null;
    const from = newest + 1n - BigInt(this.#limits.replayMarginSlots);
    return slotOf(from > 0n ? from : 0n);
  }

  /** Waits for a replay of slots that were emitted without the requested updates. Never rejects. */
  async #backfill(waiter: BackfillWaiter): Promise<void> {
    const inTime = AbortSignal.timeout(this.#limits.openTimeoutMs);
    const timeout = new Promise<void>((resolve) => inTime.addEventListener('abort', () => resolve()));
    await Promise.race([this.#started.promise, timeout]);
    const { from } = waiter;
    const { first, newestStarted } = this.#merge;
    if (first === null || newestStarted === null || this.#end.signal.aborted) return;
    const isNarrow = this.#narrowUpTo !== null && from <= this.#narrowUpTo;
    if (from > newestStarted || (from >= first && !isNarrow)) return;
    await this.#backfills.add(waiter);
  }

  async #replayAgain(from: Slot): Promise<void> {
    const { newestStarted } = this.#merge;
    if (newestStarted === null || this.#end.signal.aborted) return;
    const oldest = newestStarted - BigInt(this.#limits.replaySlotsMax);
    const start = from > oldest ? from : slotOf(oldest > 0n ? oldest : 0n);
    const result = await this.#replay(start, newestStarted, true);
    if (result !== 'complete')
      this.#options.log.warn({ from: Number(from) }, 'No Geyser server supports from_slot replay');
  }

  #replay(from: Slot, to: Slot, fillsIn: boolean): Promise<ReplayResult> {
    const { log } = this.#options;
    const [connections, merge, limits] = [this.#connections, this.#merge, this.#limits];
    const request = (scope: RequestScope): SubscribeRequest => this.#request(scope);
    return replay(
      { connections, merge, request, limits, log, signal: this.#end.signal },
      { from, to, fillsIn },
    );
  }
}
