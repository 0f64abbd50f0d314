import { withDefaults } from '../../base/with-defaults.ts';
import type { Network } from '../../protocol/call.ts';
import type { Failure } from '../../protocol/errors.ts';
import type { Product } from '../../protocol/product.ts';
import type { ClientInfo } from '../../protocol/request-handler.ts';
import { type RequestStep, RequestTrace, type TraceLink } from '../../protocol/request-trace.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import type { UsageStatus } from '../metering/usage-meter.ts';
import { redactBody, redactText } from './redact-body.ts';
import type { TraceSampler } from './trace-context.ts';

/** How much of what happens is kept. */
export type RequestLogOptions = Readonly<{
  /** Requests a second that are kept with every step of their way. */
  perSecond: number;
  /** What share of those beyond them is kept so, 0 to 1. */
  sampleRatio: number;
  /** Failures and slow requests a second that are kept without steps, when they were not chosen at their start. */
  lateMax: number;
  /** From this many milliseconds on a request is slow. */
  slowMs: number;
  /** Entries that wait to be written; beyond it the oldest are dropped. */
  entriesMax: number;
  /** How much of parameters and results is kept, of keys that allow it. */
  bodyMaxBytes: number;
  /** Steps of one request. */
  stepsMax: number;
}>;

/** What holds when nothing else is said. */
export const requestLogOptions: RequestLogOptions = {
  perSecond: 20,
  sampleRatio: 0.01,
  lateMax: 20,
  slowMs: 1_000,
  entriesMax: 5_000,
  bodyMaxBytes: 2_048,
  stepsMax: 64,
};

/** The wire that a request came over; it decides which codes its end has. */
export type Wire = 'rpc' | 'socket' | 'rest' | 'grpc';

/** What was found out about a request on its way: access/visit.ts. Times are `performance.now()`. */
export type ObservedRequest = Readonly<{
  client: ClientInfo;
  startedAt: number;
  key: KeyRecord | null;
  authenticatedAt: number | null;
  limitedAt: number | null;
  trace: RequestTrace | null;
}>;

/** How a request ended. */
export type RequestResult = Readonly<{
  wire: Wire;
  product: Product;
  network: Network | null;
  method: string;
  status: UsageStatus;
  failure: Failure | null;
  /** The JSON-RPC code of a node's error or of one of ours that is no Failure; 0 for none. */
  rpcCode: number;
  bytesIn: number;
  bytesOut: number;
  params: Uint8Array | null;
  result: Uint8Array | null;
}>;

/** One request as it is kept. Holds no credential. */
export type RequestEntry = Readonly<{
  /** Unix milliseconds. */
  at: number;
  customerId: string | null;
  keyId: string | null;
  product: Product;
  network: Network | null;
  method: string;
  status: UsageStatus;
  /** HTTP status; 0 on other wires. */
  http: number;
  /** 0 for none, and on wires without. */
  rpcCode: number;
  failure: string | null;
  micros: number;
  bytesIn: number;
  bytesOut: number;
  node: string | null;
  address: string;
  origin: string | null;
  /** Empty for one that was kept only after it had ended. */
  steps: readonly RequestStep[];
  params: string | null;
  result: string | null;
}>;

/** Gets what is to be told of sampled requests as spans. */
export interface SpanSink {
  add(entry: RequestEntry, link: TraceLink): void;
}

/** Whoever tells spans: which requests, and to whom. */
export type Spans = Readonly<{ sampler: TraceSampler; sink: SpanSink }>;

const METHOD_LENGTH_MAX = 64;
const ORIGIN_LENGTH_MAX = 256;

const httpStatus = ({ wire, failure }: RequestResult): number =>
  wire === 'rpc' || wire === 'rest' ? (failure?.row.http ?? 200) : 0;

const rpcCode = ({ wire, failure, rpcCode: code }: RequestResult): number =>
  wire === 'rpc' || wire === 'socket' ? (failure?.row.rpc ?? code) : 0;

/**
 * Chooses requests that are kept, decided at their start so that nothing is made for the others, and holds them until
 * they are written. What fails or is slow without having been chosen is kept too, without its steps.
 */
export class RequestLog {
  readonly #options: RequestLogOptions;
  readonly #spans: Spans | null;
  #entries: RequestEntry[] = [];
  #dropped = 0;
  /** The second that is counted, of `performance.now()`. */
  #second = -1;
  #sampled = 0;
  #unsampled = 0;

  constructor(options: Partial<RequestLogOptions> = {}, spans: Spans | null = null) {
    this.#options = withDefaults(requestLogOptions, options);
    this.#spans = spans;
  }

  /** Entries that found no room because nobody took them out. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Entries that wait to be written. */
  get waiting(): number {
    return this.#entries.length;
  }

  /**
   * Decides whether a request is watched.
   * @param startedAt - when it began, `performance.now()`.
   * @param traceparent - header of that name as the client sent it; null for none.
   * @returns null for one that is not: nothing was made for it.
   */
  start(startedAt: number, traceparent: string | null = null): RequestTrace | null {
    const isSampled = this.#shouldSample(startedAt);
    const link = this.#spans === null ? null : this.#spans.sampler.linkOf(traceparent);
    if (!isSampled && link === null) return null;
    return new RequestTrace(startedAt, this.#options.stepsMax, isSampled, link);
  }

  /** Takes in how a request ended. @param endedAt - `performance.now()`. */
  end(request: ObservedRequest, result: RequestResult, endedAt: number): void {
    const { trace } = request;
    if (trace === null && !this.#shouldKeepUnsampled(request, result, endedAt)) return;
    const entry = this.#createEntry(request, result, endedAt);
    if (trace === null || trace.isRetained) this.#append(entry);
    if (trace !== null && trace.link !== null) this.#spans?.sink.add(entry, trace.link);
  }

  /** Takes out what is to be written, the oldest first. */
  drain(): RequestEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  #shouldSample(now: number): boolean {
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#sampled = 0;
      this.#unsampled = 0;
    }
    if (this.#sampled >= this.#options.perSecond) return Math.random() < this.#options.sampleRatio;
    this.#sampled++;
    return true;
  }

  #shouldKeepUnsampled({ startedAt }: ObservedRequest, { status }: RequestResult, endedAt: number): boolean {
    const isRemarkable = status !== 'ok' || endedAt - startedAt >= this.#options.slowMs;
    return isRemarkable && this.#unsampled++ < this.#options.lateMax;
  }

  #append(entry: RequestEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length <= this.#options.entriesMax) return;
    this.#entries.shift();
    this.#dropped++;
  }

  #createEntry(request: ObservedRequest, result: RequestResult, endedAt: number): RequestEntry {
    const { key, client, trace } = request;
    const failure = result.failure?.code ?? null;
    const ms = endedAt - request.startedAt;
    return {
      at: trace?.at ?? Math.round(Date.now() - ms),
      customerId: key?.customerId ?? null,
      keyId: key?.id ?? null,
      product: key?.product ?? result.product,
      network: result.network,
      method: redactText(result.method, METHOD_LENGTH_MAX),
      status: result.status,
      http: httpStatus(result),
      rpcCode: rpcCode(result),
      failure,
      micros: Math.round(ms * 1_000),
      bytesIn: result.bytesIn,
      bytesOut: result.bytesOut,
      node: result.failure === null ? (trace?.node ?? null) : null,
      address: client.address,
      origin: client.origin === null ? null : redactText(client.origin, ORIGIN_LENGTH_MAX),
      steps: trace?.stepsWith(request.authenticatedAt, request.limitedAt, failure, endedAt) ?? [],
      params: this.#redactedBody(key, result.params),
      result: this.#redactedBody(key, result.result),
    };
  }

  #redactedBody(key: KeyRecord | null, body: Uint8Array | null): string | null {
    return key?.logsBodies === true && body !== null ? redactBody(body, this.#options.bodyMaxBytes) : null;
  }
}
