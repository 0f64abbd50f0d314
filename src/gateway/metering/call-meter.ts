import type { ClientInfo } from '../../protocol/request-handler.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import type { QuotaLedger } from '../limits/quota.ts';
import { RequestContext } from '../request-context.ts';
import type { RequestResult } from '../telemetry/request-log.ts';
import type { RequestWatch } from '../telemetry/request-watch.ts';
import type { LastUsedTracker } from './last-used.ts';
import { priceOf } from './price.ts';
import type { SentMessages, UsageMeter } from './usage-meter.ts';

/**
 * How a request ended, and what went back and forth for it. `product` is what the door is for; where it is known whose
 * the request is, the product of the key counts. `network` is null where none was named before it ended, `method` empty
 * for a look at a key alone.
 */
export type MeteredResult = RequestResult &
  Readonly<{
    /** Credits by the table of what was asked; null: it is not charged. */
    cost: number | null;
  }>;

export type CallMeterParts = Readonly<{
  usage: UsageMeter;
  quota?: QuotaLedger;
  /** Remembers when keys were used last, and from where. */
  lastUsed?: LastUsedTracker;
  watch?: RequestWatch;
}>;

/** The end of every request at every gate: counts it, charges for it, tells of it. */
export class CallMeter {
  readonly #parts: CallMeterParts;

  constructor(parts: CallMeterParts) {
    this.#parts = parts;
  }

  /**
   * Begins a request: its time runs from now on.
   * @param traceparent - header of that name; null for none.
   */
  startRequest(client: ClientInfo, traceparent: string | null = null): RequestContext {
    const context = new RequestContext(client);
    context.trace = this.#parts.watch?.start(context.startedAt, traceparent) ?? null;
    return context;
  }

  /** Counts a request that has ended. */
  endRequest(context: RequestContext, result: MeteredResult): void {
    const { usage, quota, lastUsed, watch } = this.#parts;
    const { key, startedAt } = context;
    const { method, status, bytesIn, bytesOut, cost } = result;
    const product = key?.product ?? result.product;
    const credits = cost === null ? 0 : key === null ? cost : priceOf(key.limits, method, cost);
    const endedAt = performance.now();
    const nowMs = Date.now();
    const latencyMicros = (endedAt - startedAt) * 1_000;
    usage.record({ key, product, method, status, bytesIn, bytesOut, credits, latencyMicros }, nowMs);
    if (key !== null) quota?.spend(key, credits, nowMs, context.reservedCredits);
    if (key !== null && context.authenticatedAt !== null)
      lastUsed?.record(key.id, context.client.address, nowMs, key.keyState);
    watch?.end(context, result, endedAt);
  }

  /** Counts a block of messages that were sent without asking again. */
  recordMessages(sent: Omit<SentMessages, 'key' | 'credits'> & Readonly<{ key: KeyRecord }>): void {
    const { usage, quota, lastUsed, watch } = this.#parts;
    const nowMs = Date.now();
    const credits = quota?.spendBytes(sent.key, sent.bytesOut, nowMs) ?? 0;
    usage.recordMessages({ ...sent, credits }, nowMs);
    lastUsed?.record(sent.key.id, null, nowMs, sent.key.keyState);
    watch?.recordMessages(sent.key, sent.product, sent.messages, sent.bytesOut);
  }
}
