import { Histograms } from '../../base/histogram.ts';
import { grpcCalls } from '../../protocol/grpc/calls.ts';
import { methods } from '../../protocol/methods.ts';
import type { Product } from '../../protocol/product.ts';
import { endpointNames } from '../../protocol/rest/endpoint-names.ts';
import { subscriptions } from '../../protocol/subscriptions.ts';
import type { KeyId, PlanLimits } from '../auth/key-record.ts';

/**
 * How a call ended: with a result, with a JSON-RPC error of the node's, refused by a limit, or with a failure
 * of the owner named.
 */
export const usageStatuses = [
  'ok',
  'rpcError',
  'limited',
  'client',
  'gateway',
  'capacity',
  'upstream',
] as const;
export type UsageStatus = (typeof usageStatuses)[number];

/** The name under which methods that are not in the table are counted. */
export const OTHER_METHOD = 'other';

/** The name under which notifications are counted: what a WebSocket was sent without asking again. */
export const NOTIFICATIONS = 'notifications';

/**
 * What was used in one minute. The numbers are totals since the minute began in this process, not differences:
 * whoever stores them keeps the greater one per (process, key, product, method, status, minute), and writing
 * twice does no harm.
 */
export type UsageRow = Readonly<{
  /** null for calls without a valid key. */
  keyId: KeyId | null;
  product: Product;
  method: string;
  status: UsageStatus;
  /** Unix minutes. */
  minute: number;
  requests: number;
  bytesIn: number;
  bytesOut: number;
  credits: number;
  /**
   * What was sent without asking again: notifications, in rows of the method NOTIFICATIONS, which have no requests, and
   * messages of gRPC streams, in the rows of their calls.
   */
  messages: number;
  /** Counts in the buckets of base/histogram.ts. */
  latency: Readonly<Uint32Array>;
}>;

/** Message bytes that cost a plan's `streamCredits`. */
export const STREAM_UNIT_BYTES = 100_000;

/**
 * Price of a call under a plan, in credits.
 * @param method - may be any text.
 * @param cost - credits by the method table.
 */
export function priceOf({ prices }: Pick<PlanLimits, 'prices'>, method: string, cost: number): number {
  return Object.hasOwn(prices, method) ? (prices[method] as number) : cost;
}

/** What is counted of a key. */
export type MeteredKey = Readonly<{ id: KeyId; keyState?: CounterCache }>;

/** One call, as the pipeline saw it end. */
export type CompletedCall = Readonly<{
  key: MeteredKey | null;
  product: Product;
  method: string;
  status: UsageStatus;
  bytesIn: number;
  bytesOut: number;
  credits: number;
  /** Microseconds from authentication to answer. */
  latencyMicros: number;
}>;

/** Messages that were handed to a socket since the last block. */
export type SentMessages = Readonly<{
  key: MeteredKey;
  product: Product;
  /** NOTIFICATIONS, or the call that opened the stream. */
  method: string;
  messages: number;
  bytesOut: number;
  /** Whole credits that their bytes came to. */
  credits: number;
}>;

/** Which row something is counted in. */
type UsageDimensions = Pick<CompletedCall, 'key' | 'product' | 'method' | 'status'>;

/** Where a key caches the counter it used last. */
type CounterCache = { usageCounter: UsageCounter | null };

export type UsageCounter = { -readonly [Name in keyof Omit<UsageRow, 'latency'>]: UsageRow[Name] } & {
  /** Among the histograms of its minute, which it does not hold: the seat of an idle key may keep it for long. */
  readonly row: number;
  dirty: boolean;
  readonly slot: number;
  /** Where it may lie to be found. */
  readonly keyState: CounterCache | null;
  /** Who counts with it; null: its minute is over. */
  meter: UsageMeter | null;
};

/** Counts of a minute, with the histograms that they have their rows in. */
type Minute = Readonly<{ counters: readonly UsageCounter[]; latencies: Histograms }>;

const meteredMethods: readonly string[] = [
  ...Object.keys(methods),
  ...Object.values(subscriptions).flatMap(({ subscribe, unsubscribe }) => [subscribe, unsubscribe]),
  NOTIFICATIONS,
  ...Object.keys(grpcCalls),
  ...endpointNames,
];
const methodSlots: ReadonlyMap<string, number> = new Map(
  meteredMethods.map((method, index) => [method, (index + 1) * usageStatuses.length]),
);
const statusSlots: Readonly<Record<UsageStatus, number>> = {
  ok: 0,
  rpcError: 1,
  limited: 2,
  client: 3,
  gateway: 4,
  capacity: 5,
  upstream: 6,
};

/** What holds when nothing else is said. */
export const usageMeterOptions = { rowsMax: 200_000 } as const;

/** Rows of a minute for which there is room at first; each of the next begins with as many as the one before had. */
const INITIAL_ROWS = 64;

/**
 * Counts what each key uses, by adding integers in memory. A writer takes the rows out with `drain` once a
 * second or so and stores them.
 */
export class UsageMeter {
  readonly #rowsMax: number;
  /** Product and key → slot of method and status → count, for the minute that runs. */
  #current: Record<Product, Map<KeyId | null, Map<number, UsageCounter>>> = emptyTables();
  /** Of the minute that runs. */
  #latencies = new Histograms(INITIAL_ROWS);
  /** Rows of minutes that are over and were not drained since. */
  #closed: Minute[] = [];
  #minute = 0;
  #rows = 0;
  #uncounted = 0;

  /** @param options.rowsMax - rows held between two drains; calls beyond them are only counted as such. */
  constructor({ rowsMax = usageMeterOptions.rowsMax }: Readonly<{ rowsMax?: number }> = {}) {
    this.#rowsMax = rowsMax;
  }

  /** Calls and blocks of messages that found no room, because nobody drained. */
  get uncounted(): number {
    return this.#uncounted;
  }

  /** @param nowMs - Unix milliseconds. A clock set back counts into the minute that was reached. */
  record(call: CompletedCall, nowMs: number): void {
    const counter = this.#counterAt(call, nowMs);
    if (counter === null) return;
    counter.requests += 1;
    counter.bytesIn += call.bytesIn;
    counter.bytesOut += call.bytesOut;
    counter.credits += call.credits;
    this.#latencies.count(counter.row, call.latencyMicros);
    counter.dirty = true;
  }

  /** Counts a block of messages. @param nowMs - as for `record`. */
  recordMessages({ key, product, method, messages, bytesOut, credits }: SentMessages, nowMs: number): void {
    const counter = this.#counterAt({ key, product, method, status: 'ok' }, nowMs);
    if (counter === null) return;
    counter.messages += messages;
    counter.bytesOut += bytesOut;
    counter.credits += credits;
    counter.dirty = true;
  }

  /**
   * The rows that changed since the last drain. Rows of minutes that are over are given for the last time:
   * whoever cannot store them must keep them and try again.
   */
  drain(): UsageRow[] {
    const closed = this.#closed.flatMap(rowsOf);
    this.#rows -= closed.length;
    this.#closed = [];
    const changed = this.#counters().filter(({ dirty }) => dirty);
    for (const counter of changed) counter.dirty = false;
    return closed.concat(rowsOf({ counters: changed, latencies: this.#latencies }));
  }

  /** Every row held, drained or not, without effect on what `drain` gives next. */
  snapshot(): UsageRow[] {
    const running = { counters: this.#counters(), latencies: this.#latencies };
    return this.#closed.concat(running).flatMap(rowsOf);
  }

  #counters(): UsageCounter[] {
    return Object.values(this.#current).flatMap((keys) =>
      [...keys.values()].flatMap((counters) => [...counters.values()]),
    );
  }

  #rollOver(minute: number): void {
    const open = this.#counters();
    for (const counter of open) detachCounter(counter);
    const changed = open.filter(({ dirty }) => dirty);
    if (changed.length > 0) this.#closed.push({ counters: changed, latencies: this.#latencies });
    this.#rows -= open.length - changed.length;
    this.#current = emptyTables();
    this.#latencies = new Histograms(Math.max(INITIAL_ROWS, this.#latencies.rows));
    this.#minute = minute;
  }

  #counterAt(dimensions: UsageDimensions, nowMs: number): UsageCounter | null {
    const minute = Math.floor(nowMs / 60_000);
    if (minute > this.#minute) this.#rollOver(minute);
    const counter = this.#counterOf(dimensions);
    if (counter === null) this.#uncounted += 1;
    return counter;
  }

  #counterOf(dimensions: UsageDimensions): UsageCounter | null {
    const slot = (methodSlots.get(dimensions.method) ?? 0) + statusSlots[dimensions.status];
    const keyState = dimensions.key?.keyState;
    if (keyState === undefined) return this.#findOrCreate(dimensions, slot);
    const cached = keyState.usageCounter;
    if (cached !== null && this.#matches(cached, dimensions, slot)) return cached;
    const counter = this.#findOrCreate(dimensions, slot);
    keyState.usageCounter = counter;
    return counter;
  }

  /** Whether a count that lay in the seat of a key is where this is counted. */
  #matches(
    { meter, slot, product }: UsageCounter,
    dimensions: UsageDimensions,
    expectedSlot: number,
  ): boolean {
    return meter === this && slot === expectedSlot && product === dimensions.product;
  }

  #findOrCreate(dimensions: UsageDimensions, slot: number): UsageCounter | null {
    const keys = this.#current[dimensions.product];
    const keyId = dimensions.key?.id ?? null;
    let counters = keys.get(keyId);
    if (counters === undefined) {
      counters = new Map();
      keys.set(keyId, counters);
    }
    const existing = counters.get(slot);
    if (existing !== undefined) return existing;
    if (this.#rows >= this.#rowsMax) return null;
    const counter = createCounter(dimensions, slot, this.#minute, this.#latencies.addRow(), this);
    counters.set(slot, counter);
    this.#rows += 1;
    return counter;
  }
}

/** The key may be idle for long: it must not keep what is over. */
function detachCounter(counter: UsageCounter): void {
  counter.meter = null;
  if (counter.keyState?.usageCounter === counter) counter.keyState.usageCounter = null;
}

const emptyTables = (): Record<Product, Map<KeyId | null, Map<number, UsageCounter>>> => ({
  rpc: new Map(),
  grpc: new Map(),
  fs: new Map(),
});

const createCounter = (
  { key, product, method, status }: UsageDimensions,
  slot: number,
  minute: number,
  row: number,
  meter: UsageMeter,
): UsageCounter => ({
  meter,
  slot,
  product,
  row,
  dirty: false,
  requests: 0,
  bytesIn: 0,
  bytesOut: 0,
  credits: 0,
  keyId: key?.id ?? null,
  method: methodSlots.has(method) ? method : OTHER_METHOD,
  status,
  minute,
  messages: 0,
  keyState: key?.keyState ?? null,
});

const rowsOf = ({ counters, latencies }: Minute): UsageRow[] =>
  counters.map((counter) => rowOf(counter, latencies));

function rowOf(counter: UsageCounter, latencies: Histograms): UsageRow {
  const { dirty: _, slot: _slot, keyState: _keyState, meter: _meter, row, ...rest } = counter;
  return { ...rest, latency: latencies.at(row) };
}
