import { Histograms } from '../../base/histogram.ts';
import type { Network } from '../../protocol/call.ts';
import { failures } from '../../protocol/errors.ts';
import { grpcCalls } from '../../protocol/grpc/calls.ts';
import { grpcCodes } from '../../protocol/grpc/status.ts';
import { methods } from '../../protocol/methods.ts';
import type { Product } from '../../protocol/product.ts';
import { endpointNames } from '../../protocol/rest/endpoint-names.ts';
import { subscriptions } from '../../protocol/subscriptions.ts';
import type { KeyId } from '../auth/key-record.ts';
import { type UsageStatus, usageStatuses } from './usage-status.ts';

/** Method name for calls that are not in the method table. */
export const OTHER_METHOD = 'other';

export const NOTIFICATIONS = 'notifications';

/** Error code for JSON-RPC codes beyond `nodeCodesMax`, which nodes may choose freely. */
export const OTHER_CODE = 'other';

/** Totals of this process for one minute so far. If a row is stored twice, the larger totals count. */
export type UsageRow = Readonly<{
  /** Null for requests without a known key. */
  keyId: KeyId | null;
  product: Product;
  method: string;
  status: UsageStatus;
  /** Null if the request ended without naming a network. */
  network: Network | null;
  /** Failure code, gRPC status or JSON-RPC error code; empty for status `ok`. */
  code: string;
  /** Unix minutes. */
  minute: number;
  requests: number;
  bytesIn: number;
  bytesOut: number;
  credits: number;
  /** Notifications in NOTIFICATIONS rows; stream messages in the rows of the call that opened the stream. */
  messages: number;
  /** Counts per bucket, as defined in base/histogram.ts. */
  latency: Readonly<Uint32Array>;
}>;

/** Number of message bytes for which a plan charges `streamCredits`. */
export const STREAM_UNIT_BYTES = 100_000;

export type MeteredKey = Readonly<{ id: KeyId; keyState?: CounterCache }>;

export type CompletedCall = Omit<
  UsageRow,
  'keyId' | 'code' | 'minute' | 'requests' | 'messages' | 'latency'
> &
  Readonly<{
    key: MeteredKey | null;
    /** A number for an error from a node; 0: none. */
    code: string | number;
    /** Time from the start of authentication to the response. */
    latencyMicros: number;
  }>;

/** `method` is NOTIFICATIONS or the method that opened the stream. */
export type SentMessages = Pick<
  UsageRow,
  'product' | 'method' | 'network' | 'messages' | 'bytesOut' | 'credits'
> &
  Readonly<{ key: MeteredKey }>;

type UsageDimensions = Pick<CompletedCall, 'key' | 'product' | 'method' | 'status' | 'network' | 'code'>;

type CounterCache = { usageCounter: UsageCounter | null };

export type UsageCounter = { -readonly [Name in keyof Omit<UsageRow, 'latency'>]: UsageRow[Name] } & {
  /** Row number in the minute's histograms. Counters hold no histogram, so that an idle key does not retain memory. */
  readonly row: number;
  dirty: boolean;
  readonly slot: number;
  /** Key state that may cache this counter. */
  readonly keyState: CounterCache | null;
  /** Null once the minute has ended. */
  meter: UsageMeter | null;
};

type Minute = Readonly<{ counters: readonly UsageCounter[]; latencies: Histograms }>;

const meteredMethods: readonly string[] = [
  ...Object.keys(methods),
  ...Object.values(subscriptions).flatMap(({ subscribe, unsubscribe }) => [subscribe, unsubscribe]),
  NOTIFICATIONS,
  ...Object.keys(grpcCalls),
  ...endpointNames,
];
const methodSlots: ReadonlyMap<string, number> = new Map(
  meteredMethods.map((method, index) => [method, index + 1]),
);
/** Whether usage and metrics name the method; others come from clients, and count as OTHER_METHOD. */
export const isMeteredMethod = (method: string): boolean => methodSlots.has(method);
const statusSlots = Object.fromEntries(usageStatuses.map((status, slot) => [status, slot])) as Record<
  UsageStatus,
  number
>;

/** Slot 0: no code; slot 1: OTHER_CODE. Some failures have the name of a gRPC status. */
const fixedCodes = new Set([0, OTHER_CODE, ...Object.keys(failures), ...grpcCodes]);
const fixedCodeSlots: ReadonlyMap<string | number, number> = new Map(
  [...fixedCodes].map((code, slot) => [code, slot]),
);

/** `nodeCodesMax` is the number of JSON-RPC error codes from nodes that are counted by themselves in a minute. */
export const usageMeterOptions = { rowsMax: 200_000, nodeCodesMax: 100 } as const;
const OTHER_CODE_SLOT = 1;
const METHOD_AND_STATUS_SLOTS = (methodSlots.size + 1) * usageStatuses.length;
const CODE_SLOTS = fixedCodeSlots.size + usageMeterOptions.nodeCodesMax;

/** Initial capacity in histogram rows. Each later minute starts with at least as many as the previous minute used. */
const INITIAL_ROWS = 64;

/** Counts usage per key in memory. A writer drains and stores the rows about once a second. */
export class UsageMeter {
  readonly #rowsMax: number;
  /** Counters of the current minute by product, by key, and by method and status. */
  #current: Record<Product, Map<KeyId | null, Map<number, UsageCounter>>> = emptyTables();
  #latencies = new Histograms(INITIAL_ROWS);
  /** Slots of the JSON-RPC error codes that nodes sent in the current minute. */
  readonly #nodeCodeSlots = new Map<number, number>();
  /** Slots of the networks called in the current minute. Callers pass only networks that the configuration lists. */
  readonly #networkSlots = new Map<Network, number>();
  /** Past minutes that have not been drained yet. */
  #closed: Minute[] = [];
  #minute = 0;
  #rows = 0;
  /** Calls and message records that were not counted because `rowsMax` was reached. */
  uncounted = 0;

  /** @param options.rowsMax - maximum rows in memory; calls that need another row only increment `uncounted`. */
  constructor({ rowsMax = usageMeterOptions.rowsMax }: Readonly<{ rowsMax?: number }> = {}) {
    this.#rowsMax = rowsMax;
  }

  /** @param nowMs - Unix milliseconds. If the clock is set back, calls are added to the latest minute. */
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

  recordMessages(sent: SentMessages, nowMs: number): void {
    const { key, product, method, network, messages, bytesOut, credits } = sent;
    const counter = this.#counterAt({ key, product, method, network, status: 'ok', code: 0 }, nowMs);
    if (counter === null) return;
    counter.messages += messages;
    counter.bytesOut += bytesOut;
    counter.credits += credits;
    counter.dirty = true;
  }

  /** Returns rows changed since the last drain. Returns past minutes once: the caller must keep them until stored. */
  drain(): UsageRow[] {
    const closed = this.#closed.flatMap(rowsOf);
    this.#rows -= closed.length;
    this.#closed = [];
    const changed = this.#counters().filter(({ dirty }) => dirty);
    for (const counter of changed) counter.dirty = false;
    return closed.concat(rowsOf({ counters: changed, latencies: this.#latencies }));
  }

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
    this.#nodeCodeSlots.clear();
    this.#networkSlots.clear();
    this.#latencies = new Histograms(Math.max(INITIAL_ROWS, this.#latencies.rows));
    this.#minute = minute;
  }

  #counterAt(dimensions: UsageDimensions, nowMs: number): UsageCounter | null {
    const minute = Math.floor(nowMs / 60_000);
    if (minute > this.#minute) this.#rollOver(minute);
    const slot = this.#slotOf(dimensions);
    const keyState = dimensions.key?.keyState;
    const cached = keyState?.usageCounter ?? null;
    const isSame = cached?.meter === this && cached.slot === slot && cached.product === dimensions.product;
    if (isSame) return cached;
    const counter = this.#findOrCreate(dimensions, slot);
    if (keyState !== undefined) keyState.usageCounter = counter;
    if (counter === null) this.uncounted += 1;
    return counter;
  }

  /** Numbers each combination of method, status, network and code. */
  #slotOf({ method, status, network, code }: UsageDimensions): number {
    const methodAndStatus = (methodSlots.get(method) ?? 0) * usageStatuses.length + statusSlots[status];
    const networkSlot = network === null ? 0 : this.#networkSlotOf(network);
    return (networkSlot * METHOD_AND_STATUS_SLOTS + methodAndStatus) * CODE_SLOTS + this.#codeSlotOf(code);
  }

  #networkSlotOf(network: Network): number {
    const slot = this.#networkSlots.get(network);
    if (slot !== undefined) return slot;
    const added = this.#networkSlots.size + 1;
    this.#networkSlots.set(network, added);
    return added;
  }

  #codeSlotOf(code: string | number): number {
    if (code === 0) return 0;
    const slot =
      fixedCodeSlots.get(code) ?? (typeof code === 'number' ? this.#nodeCodeSlots.get(code) : undefined);
    if (slot !== undefined) return slot;
    if (typeof code !== 'number' || this.#nodeCodeSlots.size >= usageMeterOptions.nodeCodesMax)
      return OTHER_CODE_SLOT;
    const added = fixedCodeSlots.size + this.#nodeCodeSlots.size;
    this.#nodeCodeSlots.set(code, added);
    return added;
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

/** Detaches a counter from its key, so that an idle key does not retain past minutes. */
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
  { key, product, method, status, network, code }: UsageDimensions,
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
  network,
  code: slot % CODE_SLOTS === OTHER_CODE_SLOT ? OTHER_CODE : String(code || ''),
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
