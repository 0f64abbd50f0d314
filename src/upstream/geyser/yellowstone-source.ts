import { isDeepStrictEqual } from 'node:util';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import type { Logger } from '../../base/log.ts';
import type { RawSlot } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { FilterSet, GeyserListener, GeyserSource } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { ObservedSlot } from '../slots/slot-tracker.ts';
import { EndpointConnection } from './endpoint-connection.ts';
import { GapRepair, type ReplayResult, replay } from './gap-repair.ts';
import type { GeyserNode } from './geyser-node.ts';
import { type GeyserSourceOptions, geyserSourceOptions } from './geyser-source-options.ts';
import { type EncodedRequest, FilterMerger, type FiltersSize, type RequestScope } from './merge-filters.ts';
import { StreamPriority } from './stream-priority.ts';
import { UpdateMerge } from './update-merge.ts';

type BackfillWaiter = { readonly from: Slot; isCancelled: boolean };

type SharedBackfill = { readonly waiters: BackfillWaiter[]; done: Promise<void> };

/** Waiters share the queued replay, so each waits for at most two replays. Stream limits bound the waiter count. */
export class Backfills {
  readonly #semaphore: Semaphore;
  readonly #replay: (from: Slot) => Promise<void>;
  #next: SharedBackfill | null = null;

  /** `replay` replays from a slot onward and must not reject. */
  constructor(max: number, replay: (from: Slot) => Promise<void>) {
    this.#semaphore = new Semaphore(max);
    this.#replay = replay;
  }

  /** Resolves after a replay from the slot onward, as far back as servers can replay. Never rejects. */
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
    const starts = waiters.filter(({ isCancelled }) => !isCancelled).map(({ from }) => from);
    if (starts.length > 0)
      await this.#replay(starts.reduce((oldest, from) => (from < oldest ? from : oldest)));
  }
}

export type YellowstoneSourceOptions = Readonly<{
  nodes: readonly GeyserNode[];
  reader: Pick<ChainReader, 'slots' | 'eachBlock'>;
  head?: () => ObservedSlot | null;
  options?: Partial<GeyserSourceOptions>;
  log: Logger;
}>;

export interface YellowstoneListener extends GeyserListener {
  /** A slot before the source's first slot was confirmed or finalized. */
  onEarlierStatus?(update: RawSlot): void;
  /** No server has sent a slot for `downMaxMs`. */
  onDown?(): void;
  /** Every server rejected a request that it had acknowledged. */
  onRejected?(): void;
}

const CHECKS_PER_STALL = 10;

/**
 * Opens one stream per node of the best priority, with all filters. Missing slots are replayed, read from blocks, or
 * reported as lost.
 */
export class YellowstoneSource implements GeyserSource {
  readonly #options: YellowstoneSourceOptions;
  readonly #limits: GeyserSourceOptions;
  readonly #listeners = new Set<YellowstoneListener>();
  readonly #filterMerger: FilterMerger;
  readonly #merge: UpdateMerge;
  readonly #repair: GapRepair;
  #nodes: readonly GeyserNode[];
  readonly #priority: StreamPriority;
  #connections: readonly EndpointConnection[] = [];
  readonly #backfills: Backfills;
  readonly #end = new AbortController();
  #replays = new AbortController();
  #started = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | null = null;
  /** Resolves when servers have handled the current request, to true if any server accepted it. */
  #requestApplied: Promise<boolean> = Promise.resolve(true);
  /** This slot and earlier slots may lack updates that the current request includes. */
  #narrowUpTo: Slot | null = null;
  #progressAt = 0;
  isDown = false;

  constructor(options: YellowstoneSourceOptions) {
    this.#options = options;
    this.#nodes = options.nodes;
    this.#limits = { ...geyserSourceOptions, ...options.options };
    const { reader, head = () => null, log } = options;
    const limits = this.#limits;
    this.#priority = new StreamPriority(limits);
    this.#filterMerger = new FilterMerger(limits);
    this.#backfills = new Backfills(limits.backfillsMax, (from) => this.#replayAgain(from));
    const listener: GeyserListener = {
      onUpdate: (update) => {
        for (const each of this.#listeners) each.onUpdate(update);
      },
      onLost: (from, to, kinds) => {
        for (const each of this.#listeners) each.onLost(from, to, kinds);
      },
      onReset: (reason) => {
        this.#started = Promise.withResolvers();
        for (const each of this.#listeners) each.onReset(reason);
      },
    };
    this.#merge = new UpdateMerge({
      limits,
      listener,
      head,
      onEarlierStatus: (update) => {
        for (const each of this.#listeners) each.onEarlierStatus?.(update);
      },
      onStart: () => this.#started.resolve(),
      onWaiting: () => this.#repair.check(),
    });
    this.#repair = new GapRepair({
      merge: this.#merge,
      reader,
      limits,
      log,
      listener,
      requestedKinds: () => this.#filterMerger.kinds,
      replay: (range) => this.#replay(range.from, range.to, false),
    });
  }

  /** Call before `start`. */
  addListener(listener: YellowstoneListener): void {
    this.#listeners.add(listener);
  }

  start(): void {
    if (this.#timer !== null || this.#end.signal.aborted) return;
    this.#progressAt = performance.now();
    this.#timer = setInterval(() => {
      this.#repair.check();
      const now = performance.now();
      if (this.#priority.review(now)) this.#updateConnections();
      if (this.hasServers && now - this.#progressAt > this.#limits.downMaxMs) this.#markDown();
    }, this.#limits.stallMs / CHECKS_PER_STALL);
    this.#priority.setNodes(this.#nodes, this.#progressAt);
    this.#updateConnections();
  }

  get hasServers(): boolean {
    return this.#nodes.length > 0;
  }

  get newest(): Slot | null {
    return this.#merge.newest;
  }

  /** Newest slot of which anything was received, complete or not. */
  get newestStarted(): Slot | null {
    return this.#merge.newestStarted;
  }

  subscribe(request: SubscribeRequest, fromSlot: Slot | null): FilterSet {
    const before = this.#filterMerger.encode('exact');
    const removeFilters = this.#filterMerger.add(request);
    if (before.key !== this.#filterMerger.encode('exact').key) this.#updateRequests();
    const requestApplied = this.#requestApplied;
    const waiter = fromSlot === null ? null : { from: fromSlot, isCancelled: false };
    return {
      ready: requestApplied.then(() => (waiter === null ? undefined : this.#backfill(waiter))),
      end: () => {
        if (waiter !== null) waiter.isCancelled = true;
        const previous = this.#filterMerger.encode('exact');
        removeFilters();
        if (previous.key !== this.#filterMerger.encode('exact').key) this.narrowFilters();
      },
    };
  }

  addFilters(provider: () => SubscribeRequest): void {
    this.#filterMerger.addProvider(provider);
  }

  /** Whether servers accept these filters in addition to those of gRPC streams. */
  fits(size: FiltersSize): boolean {
    return this.#filterMerger.fits(size);
  }

  /** Call after removing filters. The remaining subscriptions need no acknowledgement. */
  narrowFilters(): void {
    this.#filterMerger.markChanged();
    for (const connection of this.#connections) void connection.updateRequest();
  }

  /** Requests a provider's changed filters. @returns false if no server accepts them or sends slots in time. */
  async updateFilters(): Promise<boolean> {
    this.start();
    this.#filterMerger.markChanged();
    this.#updateRequests();
    const [isAccepted] = await Promise.all([this.#requestApplied, this.#firstSlot()]);
    if (this.#merge.first === null) this.#markDown();
    return isAccepted && !this.isDown;
  }

  /** Streams of unchanged nodes continue. Adding the first server or removing the last resets everything. */
  setNodes(nodes: readonly GeyserNode[]): void {
    const isSwitch = this.hasServers !== nodes.length > 0;
    this.#nodes = nodes;
    if (this.#timer === null || this.#end.signal.aborted) return;
    this.#progressAt = performance.now();
    this.#priority.setNodes(nodes, this.#progressAt);
    this.#updateConnections();
    if (!isSwitch) return;
    this.#replays.abort();
    this.#replays = new AbortController();
    this.#merge.reset('source');
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#end.abort();
    this.#repair.close();
    for (const connection of this.#connections) connection.close();
    this.#started.resolve();
  }

  #updateConnections(): void {
    const before = this.#connections;
    this.#connections = this.#priority.active.map(
      (node) =>
        before.find((connection) => isDeepStrictEqual(connection.node, node)) ?? this.#connectTo(node),
    );
    for (const connection of before) if (!this.#connections.includes(connection)) connection.close();
  }

  #connectTo(node: GeyserNode): EndpointConnection {
    const merge = this.#merge;
    return new EndpointConnection({
      node,
      limits: this.#limits,
      log: this.#options.log,
      request: (scope) => this.#filterMerger.encode(scope),
      resumeSlot: () => {
        const { newest } = this.#merge;
        if (newest === null) return null;
        const from = newest + 1n - BigInt(this.#limits.replayMarginSlots);
        return slotOf(from > 0n ? from : 0n);
      },
      addReader: (from, seals) => merge.addReader({ from, tip: merge.newest, fillsIn: false, seals }),
      removeReader: (reader) => merge.removeReader(reader),
      onProgress: () => this.#recordProgress(node),
      onRejected: () => {
        if (!this.#connections.every(({ isRejected }) => isRejected)) return;
        for (const each of this.#listeners) each.onRejected?.();
      },
    });
  }

  #recordProgress(node: GeyserNode): void {
    this.#progressAt = performance.now();
    this.#priority.recordProgress(node, this.#progressAt);
    if (!this.isDown) return;
    this.isDown = false;
    this.#options.log.info({ node: node.name }, 'Geyser server recovered');
  }

  #markDown(): void {
    if (this.isDown || this.#end.signal.aborted) return;
    this.isDown = true;
    this.#options.log.warn('No Geyser server delivers slots');
    for (const each of this.#listeners) each.onDown?.();
  }

  async #firstSlot(): Promise<void> {
    if (this.#merge.first !== null) return;
    const timeout = AbortSignal.timeout(this.#limits.openTimeoutMs);
    await unlessAborted(this.#started.promise, timeout).catch(() => {});
  }

  /** Updates the request on all servers. Waits only for connected servers, unless all servers are down. */
  #updateRequests(): void {
    const up = this.#connections.map((connection) => connection.isUp);
    const waits = this.#connections.map((connection) => connection.updateRequest());
    const areAllDown = !up.includes(true);
    const requestApplied = areAllDown ? anyTrue(waits) : allOf(waits.filter((_, at) => up[at]));
    const before = this.#requestApplied;
    this.#requestApplied = Promise.all([before, requestApplied]).then(([, isAccepted]) => {
      this.#narrowUpTo = this.#merge.newestStarted;
      return isAccepted;
    });
  }

  /** Waits for a replay if slots were emitted without the requested updates. Never rejects. */
  async #backfill(waiter: BackfillWaiter): Promise<void> {
    await this.#firstSlot();
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
    const request = (scope: RequestScope): EncodedRequest => this.#filterMerger.encode(scope);
    const signal = AbortSignal.any([this.#end.signal, this.#replays.signal]);
    return replay({ connections, merge, request, limits, log, signal }, { from, to, fillsIn });
  }
}

const allOf = async (accepted: readonly Promise<boolean>[]): Promise<boolean> =>
  (await Promise.all(accepted)).includes(true);

const anyTrue = (accepted: readonly Promise<boolean>[]): Promise<boolean> =>
  Promise.any(accepted.map(async (each) => (await each) || Promise.reject(new Error('not accepted')))).catch(
    () => false,
  );
