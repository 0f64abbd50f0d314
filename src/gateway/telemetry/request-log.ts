import { randomBytes } from 'node:crypto';
import { withDefaults } from '../../base/with-defaults.ts';
import type { ClientInfo } from '../../protocol/client-info.ts';
import type { CallAttempt } from '../../protocol/errors.ts';
import { type RequestStep, RequestTrace, type TraceLink } from '../../protocol/request-trace.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import type { UsageStatus } from '../metering/usage-status.ts';
import { errorMessageOf, nodeOfError, signatureOfCall } from './error-detail.ts';
import { redactBody, redactText } from './redact-body.ts';
import type { RequestResult } from './request-result.ts';

export const requestLogOptions = {
  /** Number of requests to sample per second, with all their steps. */
  perSecond: 20,
  /** Fraction of further requests to sample, 0 to 1. */
  sampleRatio: 0.01,
  /** Maximum number of unsampled requests stored per second because they failed or were slow. */
  unsampledMax: 20,
  /** Latency at which a request counts as slow. */
  slowMs: 1_000,
  /** Maximum number of entries waiting to be written; above this, the oldest are dropped. */
  entriesMax: 5_000,
  /** Maximum bytes of parameters, and of results, to log for keys that allow it. */
  bodyMaxBytes: 2_048,
  stepsMax: 64,
};

export type RequestLogOptions = Readonly<typeof requestLogOptions>;

/** The part of a request's context that is logged. Times are on the `performance.now()` clock. */
export type ObservedRequest = Readonly<{
  client: ClientInfo;
  startedAt: number;
  key: KeyRecord | null;
  inactiveKey: KeyRecord | null;
  authenticatedAt: number | null;
  limitedAt: number | null;
  trace: RequestTrace | null;
}>;

/** A logged request, without credentials. */
export type RequestEntry = Omit<RequestResult, 'wire' | 'failure' | 'params' | 'result' | 'detail'> &
  Readonly<{
    /** Unix milliseconds. */
    at: number;
    customerId: string | null;
    keyId: string | null;
    /** HTTP status; 0 on other transports. */
    http: number;
    failure: string | null;
    /** Error message without secrets and control characters; null for successful requests. */
    message: string | null;
    /** Signature of the transaction that the request concerns. */
    signature: string | null;
    micros: number;
    /** The node that sent the result or the error. */
    node: string | null;
    address: string;
    origin: string | null;
    /** Empty if the request succeeded and was neither sampled nor traced. */
    steps: readonly RequestStep[];
    params: string | null;
    result: string | null;
  }>;

export interface SpanSink {
  add(entry: RequestEntry, link: TraceLink): void;
}

export type Spans = Readonly<{ sampler: TraceSampler; sink: SpanSink }>;

const METHOD_LENGTH_MAX = 64;
const NO_ATTEMPTS: readonly CallAttempt[] = [];
const ORIGIN_LENGTH_MAX = 256;

const httpStatus = ({ wire, failure }: RequestResult): number =>
  wire === 'rpc' || wire === 'rest' ? (failure?.row.http ?? 200) : 0;

const rpcCode = ({ wire, failure, rpcCode: code }: RequestResult): number =>
  wire === 'rpc' || wire === 'socket' ? (failure?.row.rpc ?? code) : 0;

/** Maximum entries per second that name an inactive key; further entries name no key. */
const INACTIVE_PER_SECOND = 1;

/** Samples requests when they start, so that the rest cost nothing. Failed and slow requests are stored anyway. */
export class RequestLog {
  readonly #options: RequestLogOptions;
  readonly #spans: Spans | null;
  #entries: RequestEntry[] = [];
  /** Entries dropped before they were written. */
  dropped = 0;
  #second = -1;
  #sampled = 0;
  #unsampled = 0;
  #inactive = 0;

  constructor(options: Partial<RequestLogOptions> = {}, spans: Spans | null = null) {
    this.#options = withDefaults(requestLogOptions, options);
    this.#spans = spans;
  }

  get waiting(): number {
    return this.#entries.length;
  }

  /** @param startedAt - `performance.now()` time. @returns null if the request is neither sampled nor traced. */
  start(startedAt: number, traceparent: string | null = null): RequestTrace | null {
    const { perSecond, sampleRatio } = this.#options;
    const second = Math.floor(startedAt / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#sampled = 0;
      this.#unsampled = 0;
      this.#inactive = 0;
    }
    const isWithinRate = this.#sampled < perSecond;
    if (isWithinRate) this.#sampled++;
    const isSampled = isWithinRate || Math.random() < sampleRatio;
    const link = this.#spans === null ? null : this.#spans.sampler.linkOf(traceparent);
    if (!isSampled && link === null) return null;
    return new RequestTrace(startedAt, this.#options.stepsMax, isSampled, link);
  }

  /** @param endedAt - on the `performance.now()` clock. */
  end(request: ObservedRequest, result: RequestResult, endedAt: number): void {
    const { trace } = request;
    if (trace === null && !this.#shouldKeepUnsampled(request, result, endedAt)) return;
    const entry = this.#createEntry(request, result, endedAt);
    if (trace === null || trace.isRetained) this.#append(entry);
    if (trace !== null && trace.link !== null) this.#spans?.sink.add(entry, trace.link);
  }

  drain(): RequestEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  #shouldKeepUnsampled({ startedAt }: ObservedRequest, { status }: RequestResult, endedAt: number): boolean {
    const isRemarkable = status !== 'ok' || endedAt - startedAt >= this.#options.slowMs;
    return isRemarkable && this.#unsampled++ < this.#options.unsampledMax;
  }

  #append(entry: RequestEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length <= this.#options.entriesMax) return;
    this.#entries.shift();
    this.dropped++;
  }

  #createEntry(request: ObservedRequest, result: RequestResult, endedAt: number): RequestEntry {
    const { client, trace } = request;
    const inactiveKey = this.#inactiveKeyOf(request);
    const key = request.key ?? inactiveKey;
    const { detail } = result;
    const failure = detail?.code ?? result.failure?.code ?? null;
    const attempts =
      result.status === 'ok' ? NO_ATTEMPTS : (detail?.attempts ?? result.failure?.attempts ?? NO_ATTEMPTS);
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
      message: inactiveKey === null ? errorMessageOf(result) : inactiveText(inactiveKey),
      signature: detail?.signature ?? signatureOfCall(result),
      micros: Math.round(ms * 1_000),
      bytesIn: result.bytesIn,
      bytesOut: result.bytesOut,
      node: nodeOfError(attempts, result.rpcCode) ?? (result.failure === null ? (trace?.node ?? null) : null),
      address: client.address,
      origin: client.origin === null ? null : redactText(client.origin, ORIGIN_LENGTH_MAX),
      steps: this.#stepsOf(request, result.status, attempts, failure, endedAt),
      params: this.#redactedBody(request.key, result.params),
      result: this.#redactedBody(request.key, result.result),
    };
  }

  /** Bounded, so that a revoked key that leaked cannot displace the log of its customer. */
  #inactiveKeyOf({ inactiveKey }: ObservedRequest): KeyRecord | null {
    return inactiveKey !== null && this.#inactive++ < INACTIVE_PER_SECOND ? inactiveKey : null;
  }

  #stepsOf(
    { startedAt, trace, authenticatedAt, limitedAt }: ObservedRequest,
    status: UsageStatus,
    attempts: readonly CallAttempt[],
    failure: string | null,
    endedAt: number,
  ): RequestStep[] {
    if (trace === null && status === 'ok') return [];
    const whole = trace ?? new RequestTrace(startedAt, this.#options.stepsMax, true, null);
    // A trace lacks the attempts of a call that it joined.
    if (whole.node === null) for (const attempt of attempts) whole.onAttempt(attempt);
    return whole.stepsWith(authenticatedAt, limitedAt, failure, endedAt);
  }

  #redactedBody(key: KeyRecord | null, body: Uint8Array | null): string | null {
    return key?.logsBodies === true && body !== null ? redactBody(body, this.#options.bodyMaxBytes) : null;
  }
}

/** Not part of the response: only the customer and the operator see it. */
const inactiveText = ({ status }: KeyRecord): string =>
  status === 'revoked' || status === 'disabled' ? `The API key is ${status}` : 'The API key has expired';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/**
 * Source: W3C Trace Context, 3.2. Later versions may append fields; all-zero ids are invalid.
 * @returns null if invalid. `sampled`: whether the caller records its part of the trace.
 */
export function readTraceparent(header: string): (TraceLink & Readonly<{ sampled: boolean }>) | null {
  const match = header.length > 256 ? null : TRACEPARENT.exec(header);
  if (match === null) return null;
  const [, traceId, parentId, flags, rest] = match as unknown as [string, string, string, string, string?];
  if (header.startsWith('00') && rest !== undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Upper bound for the last 48 bits of a trace id, which are random. Trace ids below it are sampled. */
const boundOf = (share: number): number => share * 2 ** 48;

/**
 * Decides which requests emit spans: the given share of new traces, and the same share of traces that clients sample.
 * Client traces are selected by trace id, so that all parties select the same traces.
 */
export class TraceSampler {
  readonly #share: number;

  /** @param share - fraction of traces, 0 to 1. */
  constructor(share: number) {
    this.#share = share;
  }

  /** @returns null if the request emits no spans. */
  linkOf(traceparent: string | null): TraceLink | null {
    const parent = traceparent === null ? null : readTraceparent(traceparent);
    if (parent === null) {
      return Math.random() < this.#share
        ? { traceId: randomBytes(16).toString('hex'), parentId: null }
        : null;
    }
    if (!parent.sampled || Number.parseInt(parent.traceId.slice(-12), 16) >= boundOf(this.#share))
      return null;
    return { traceId: parent.traceId, parentId: parent.parentId };
  }
}
