import type { KeyRecord } from '../access/key-record.ts';
import type { KeyUses } from '../access/key-uses.ts';
import { priceOf } from '../access/price.ts';
import type { QuotaLedger } from '../access/quota.ts';
import type { SentMessages, UsageMeter } from '../access/usage.ts';
import { Visit } from '../access/visit.ts';
import type { EndedRequest } from '../observe/request-log.ts';
import type { RequestWatch } from '../observe/request-watch.ts';
import type { Client } from '../protocol/serve.ts';

/**
 * How a request ended, and what went back and forth for it. `product` is what the door is for; where it is known whose
 * the request is, the product of the key counts. `network` is null where none was named before it ended, `method` empty
 * for a look at a key alone.
 */
export type Ending = EndedRequest &
  Readonly<{
    /** Credits by the table of what was asked; null: it is not charged. */
    cost: number | null;
  }>;

export type CallMeterParts = Readonly<{
  usage: UsageMeter;
  quota?: QuotaLedger;
  /** Remembers when keys were used last, and from where. */
  uses?: KeyUses;
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
  begin(client: Client, traceparent: string | null = null): Visit {
    const visit = new Visit(client);
    visit.trace = this.#parts.watch?.begin(visit.startedAt, traceparent) ?? null;
    return visit;
  }

  /** Counts a request that has ended. */
  end(visit: Visit, ending: Ending): void {
    const { usage, quota, uses, watch } = this.#parts;
    const { key, startedAt } = visit;
    const { method, status, bytesIn, bytesOut, cost } = ending;
    const product = key?.product ?? ending.product;
    const credits = cost === null ? 0 : key === null ? cost : priceOf(key.limits, method, cost);
    const endedAt = performance.now();
    const nowMs = Date.now();
    const latencyMicros = (endedAt - startedAt) * 1_000;
    usage.record({ key, product, method, status, bytesIn, bytesOut, credits, latencyMicros }, nowMs);
    if (key !== null) quota?.spend(key, credits, nowMs, visit.held);
    if (key !== null && visit.authenticatedAt !== null)
      uses?.note(key.id, visit.client.address, nowMs, key.seat);
    watch?.end(visit, ending, endedAt);
  }

  /** Counts a block of messages that were sent without asking again. */
  sent(sent: Omit<SentMessages, 'key' | 'credits'> & Readonly<{ key: KeyRecord }>): void {
    const { usage, quota, uses, watch } = this.#parts;
    const nowMs = Date.now();
    const credits = quota?.spendBytes(sent.key, sent.bytesOut, nowMs) ?? 0;
    usage.recordMessages({ ...sent, credits }, nowMs);
    uses?.note(sent.key.id, null, nowMs, sent.key.seat);
    watch?.sent(sent.key, sent.product, sent.messages, sent.bytesOut);
  }
}
