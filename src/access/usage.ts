import { Histograms } from '../base/histogram.ts';
import { grpcCalls } from '../protocol/grpc/calls.ts';
import { methods } from '../protocol/methods.ts';
import type { Product } from '../protocol/product.ts';
import { endpointNames } from '../protocol/rest/endpoint-names.ts';
import { subscriptions } from '../protocol/subscriptions.ts';
import type { KeyId } from './key-record.ts';
import type { KeySeat } from './key-seat.ts';

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

/** What is counted of a key. */
export type CountedKey = Readonly<{ id: KeyId; seat?: KeySeat }>;

/** One call, as the pipeline saw it end. */
export type UsedCall = Readonly<{
  key: CountedKey | null;
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
  key: CountedKey;
  product: Product;
  /** NOTIFICATIONS, or the call that opened the stream. */
  method: string;
  messages: number;
  bytesOut: number;
  /** Whole credits that their bytes came to. */
  credits: number;
}>;

/** Which row something is counted in. */
type CountPlace = Pick<UsedCall, 'key' | 'product' | 'method' | 'status'>;

type Count = { -readonly [Name in keyof Omit<UsageRow, 'latency'>]: UsageRow[Name] } & {
  /** Among the histograms of its minute, which it does not hold: the seat of an idle key may keep it for long. */
  readonly row: number;
  dirty: boolean;
  readonly slot: number;
  /** Where it may lie to be found. */
  readonly seat: KeySeat | null;
  /** Who counts with it; null: its minute is over. */
  owner: UsageMeter | null;
};

/** Counts of a minute, with the histograms that they have their rows in. */
type Minute = Readonly<{ counts: readonly Count[]; latencies: Histograms }>;

const countedMethods: readonly string[] = [
  ...Object.keys(methods),
  ...Object.values(subscriptions).flatMap(({ subscribe, unsubscribe }) => [subscribe, unsubscribe]),
  NOTIFICATIONS,
  ...Object.keys(grpcCalls),
  ...endpointNames,
];
const methodSlots: ReadonlyMap<string, number> = new Map(
  countedMethods.map((method, index) => [method, (index + 1) * usageStatuses.length]),
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
const ROWS_AT_FIRST = 64;

/**
 * Counts what each key uses, by adding integers in memory. A writer takes the rows out with `drain` once a
 * second or so and stores them.
 */
export class UsageMeter {
  readonly #rowsMax: number;
  /** Product and key → slot of method and status → count, for the minute that runs. */
  #current: Record<Product, Map<KeyId | null, Map<number, Count>>> = emptyTables();
  /** Of the minute that runs. */
  #latencies = new Histograms(ROWS_AT_FIRST);
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
  record(call: UsedCall, nowMs: number): void {
    const count = this.#countAt(call, nowMs);
    if (count === null) return;
    count.requests += 1;
    count.bytesIn += call.bytesIn;
    count.bytesOut += call.bytesOut;
    count.credits += call.credits;
    this.#latencies.count(count.row, call.latencyMicros);
    count.dirty = true;
  }

  /** Counts a block of messages. @param nowMs - as for `record`. */
  recordMessages({ key, product, method, messages, bytesOut, credits }: SentMessages, nowMs: number): void {
    const count = this.#countAt({ key, product, method, status: 'ok' }, nowMs);
    if (count === null) return;
    count.messages += messages;
    count.bytesOut += bytesOut;
    count.credits += credits;
    count.dirty = true;
  }

  /**
   * The rows that changed since the last drain. Rows of minutes that are over are given for the last time:
   * whoever cannot store them must keep them and try again.
   */
  drain(): UsageRow[] {
    const over = this.#closed.flatMap(rowsOf);
    this.#rows -= over.length;
    this.#closed = [];
    const changed = this.#counts().filter(({ dirty }) => dirty);
    for (const count of changed) count.dirty = false;
    return over.concat(rowsOf({ counts: changed, latencies: this.#latencies }));
  }

  /** Every row held, drained or not, without effect on what `drain` gives next. */
  snapshot(): UsageRow[] {
    const running = { counts: this.#counts(), latencies: this.#latencies };
    return this.#closed.concat(running).flatMap(rowsOf);
  }

  #counts(): Count[] {
    return Object.values(this.#current).flatMap((keys) =>
      [...keys.values()].flatMap((counts) => [...counts.values()]),
    );
  }

  #turn(minute: number): void {
    const open = this.#counts();
    for (const count of open) leaveSeat(count);
    const changed = open.filter(({ dirty }) => dirty);
    if (changed.length > 0) this.#closed.push({ counts: changed, latencies: this.#latencies });
    this.#rows -= open.length - changed.length;
    this.#current = emptyTables();
    this.#latencies = new Histograms(Math.max(ROWS_AT_FIRST, this.#latencies.rows));
    this.#minute = minute;
  }

  #countAt(place: CountPlace, nowMs: number): Count | null {
    const minute = Math.floor(nowMs / 60_000);
    if (minute > this.#minute) this.#turn(minute);
    const count = this.#countOf(place);
    if (count === null) this.#uncounted += 1;
    return count;
  }

  #countOf(place: CountPlace): Count | null {
    const slot = (methodSlots.get(place.method) ?? 0) + statusSlots[place.status];
    const seat = place.key?.seat;
    if (seat === undefined) return this.#findCount(place, slot);
    const seated = seat.count as Count | null;
    if (seated !== null && this.#isOf(seated, place, slot)) return seated;
    const count = this.#findCount(place, slot);
    seat.count = count;
    return count;
  }

  /** Whether a count that lay in the seat of a key is where this is counted. */
  #isOf({ owner, slot, product }: Count, place: CountPlace, wanted: number): boolean {
    return owner === this && slot === wanted && product === place.product;
  }

  #findCount(place: CountPlace, slot: number): Count | null {
    const keys = this.#current[place.product];
    const keyId = place.key?.id ?? null;
    let counts = keys.get(keyId);
    if (counts === undefined) {
      counts = new Map();
      keys.set(keyId, counts);
    }
    const known = counts.get(slot);
    if (known !== undefined) return known;
    if (this.#rows >= this.#rowsMax) return null;
    const count = createCount(place, slot, this.#minute, this.#latencies.begin(), this);
    counts.set(slot, count);
    this.#rows += 1;
    return count;
  }
}

/** The key may be idle for long: it must not keep what is over. */
function leaveSeat(count: Count): void {
  count.owner = null;
  if (count.seat?.count === count) count.seat.count = null;
}

const emptyTables = (): Record<Product, Map<KeyId | null, Map<number, Count>>> => ({
  rpc: new Map(),
  grpc: new Map(),
  fs: new Map(),
});

const createCount = (
  { key, product, method, status }: CountPlace,
  slot: number,
  minute: number,
  row: number,
  owner: UsageMeter,
): Count => ({
  owner,
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
  seat: key?.seat ?? null,
});

const rowsOf = ({ counts, latencies }: Minute): UsageRow[] => counts.map((count) => rowOf(count, latencies));

function rowOf(count: Count, latencies: Histograms): UsageRow {
  const { dirty: _, slot: _slot, seat: _seat, owner: _owner, row, ...rest } = count;
  return { ...rest, latency: latencies.at(row) };
}
