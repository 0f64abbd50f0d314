import type { Logger } from '../../base/log.ts';
import type { ClientInfo } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';
import type { RequestTrace } from '../../protocol/request-trace.ts';
import type { LoadedKey } from '../auth/key-state.ts';
import { creditsOf, type QuotaLedger } from '../limits/quota.ts';
import type { RateDecision } from '../limits/rate-limiter.ts';
import type { RequestCounters } from '../telemetry/request-counters.ts';
import type { RequestLog } from '../telemetry/request-log.ts';
import type { RequestResult } from '../telemetry/request-result.ts';
import type { UnknownMethods } from '../telemetry/unknown-methods.ts';
import type { LastUsedTracker } from './last-used.ts';
import type { SentMessages, UsageMeter } from './usage-meter.ts';
import type { UsageStatus } from './usage-status.ts';

/** State of one request. Times are milliseconds on the `performance.now()` clock. */
export class RequestContext {
  readonly client: ClientInfo;
  readonly startedAt = performance.now();
  /** Set as soon as the key is identified, even if its use is then rejected. */
  key: LoadedKey | null = null;
  /** The revoked, disabled or expired key that was presented: its customer sees the rejected request. */
  inactiveKey: LoadedKey | null = null;
  /** Why authentication failed. */
  rejection: Failure | null = null;
  authenticatedAt: number | null = null;
  /** When the request passed the rate limits. */
  limitedAt: number | null = null;
  rateDecision: RateDecision | null = null;
  /** Credits reserved from the key's quota until the request ends. */
  reservedCredits = 0;
  /** Null if the request is neither sampled nor traced. */
  trace: RequestTrace | null = null;

  constructor(client: ClientInfo) {
    this.client = client;
  }
}

/**
 * `product` is the server's product; the key's product, once known, takes precedence. `network` is null if the request
 * ended without naming a network. `method` is empty if only the key was checked.
 */
export type MeteredResult = RequestResult &
  Readonly<{
    /** Credits from the method table; null: not charged. */
    credits: number | null;
  }>;

/** Default result fields, as for a request that ended before its method was known. */
export const emptyRequest = {
  method: '',
  rpcCode: 0,
  bytesIn: 0,
  bytesOut: 0,
  params: null,
  result: null,
  credits: null,
  detail: null,
} as const;

/** Converts anything but a Failure to INTERNAL, whose cause is never sent to clients. */
export const toFailure = (thrown: unknown): Failure =>
  thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown });

export const statusOfFailure = ({ row }: Failure): UsageStatus =>
  row.countsAsLimited ? 'limited' : row.owner;

/** Logs INTERNAL failures only; other failures are expected. */
export function logInternalError(
  log: Logger,
  failure: Failure,
  fields: Readonly<Record<string, unknown>>,
): void {
  if (failure.code === 'INTERNAL')
    log.error({ err: failure.cause, ...fields }, 'Request failed with an internal error');
}

/** The code under which the request log and usage list a failed request; 0: none. */
const codeOf = ({ status, detail, failure, rpcCode }: RequestResult): string | number =>
  status === 'ok' ? 0 : (detail?.code ?? failure?.code ?? rpcCode);

export type CallMeterParts = Readonly<{
  usage: UsageMeter;
  quota?: QuotaLedger;
  lastUsed?: LastUsedTracker;
  requestLog?: RequestLog;
  counters?: RequestCounters;
  unknownMethods?: UnknownMethods;
}>;

/** Updates usage, quota, last-used times, the request log, traces and metrics for every request. */
export class CallMeter {
  readonly #parts: CallMeterParts;

  constructor(parts: CallMeterParts) {
    this.#parts = parts;
  }

  startRequest(client: ClientInfo, traceparent: string | null = null): RequestContext {
    const context = new RequestContext(client);
    context.trace = this.#parts.requestLog?.start(context.startedAt, traceparent) ?? null;
    return context;
  }

  endRequest(context: RequestContext, result: MeteredResult): void {
    const { usage, quota, lastUsed, requestLog, counters } = this.#parts;
    const { key, startedAt } = context;
    const { method, status, network, bytesIn, bytesOut } = result;
    const countedKey = key ?? context.inactiveKey;
    const product = countedKey?.product ?? result.product;
    const credits =
      key === null || result.credits === null
        ? (result.credits ?? 0)
        : creditsOf(key.limits, method, result.credits);
    const endedAt = performance.now();
    const nowMs = Date.now();
    const latencyMicros = (endedAt - startedAt) * 1_000;
    const code = codeOf(result);
    usage.record(
      { key: countedKey, product, method, status, network, code, bytesIn, bytesOut, credits, latencyMicros },
      nowMs,
    );
    if (key !== null) quota?.spend(key, credits, nowMs, context.reservedCredits);
    if (key !== null && context.authenticatedAt !== null)
      lastUsed?.record(key.id, context.client.address, nowMs, key.keyState);
    counters?.count(countedKey, result, (endedAt - startedAt) / 1_000);
    requestLog?.end(context, result, endedAt);
  }

  /** Counts a call whose method no node supports, by name. The call is metered with `endRequest` like any other. */
  recordUnknownMethod(key: LoadedKey | null, method: string): void {
    if (key !== null) this.#parts.unknownMethods?.count(key.customerId, method, Date.now());
  }

  recordMessages(sent: Omit<SentMessages, 'key' | 'credits'> & Readonly<{ key: LoadedKey }>): void {
    const { usage, quota, lastUsed, counters } = this.#parts;
    const { key, product, messages, bytesOut } = sent;
    const nowMs = Date.now();
    const credits = quota?.spendBytes(key, bytesOut, nowMs) ?? 0;
    usage.recordMessages({ ...sent, credits }, nowMs);
    lastUsed?.record(key.id, null, nowMs, key.keyState);
    counters?.countMessages(key, product, messages, bytesOut);
  }
}
