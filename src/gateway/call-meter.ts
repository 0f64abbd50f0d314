import type { KeyRecord } from '../access/key-record.ts';
import { priceOf } from '../access/price.ts';
import type { QuotaLedger } from '../access/quota.ts';
import type { SentMessages, UsageMeter, UsageStatus } from '../access/usage.ts';
import type { Visit } from '../access/visit.ts';
import type { Network } from '../protocol/call.ts';
import type { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';

/** How a request ended, and what went back and forth for it. */
export type Ending = Readonly<{
  /** What the door is for; where it is known whose the request is, the product of the key counts. */
  product: Product;
  /** null where none was named before it ended. */
  network: Network | null;
  /** A method, a subscription, a call of gRPC or an endpoint, as it was asked; empty for a look at a key alone. */
  method: string;
  status: UsageStatus;
  /** Why it was refused or went wrong; null where there is an answer, if only a node's error. */
  failure: Failure | null;
  bytesIn: number;
  bytesOut: number;
  /** Credits by the table of what was asked; null: it is not charged. */
  cost: number | null;
}>;

/** Hears of each request when it has ended. Must not throw. @param endedAt - of `performance.now()`. */
export type RequestObserver = (visit: Visit, ending: Ending, endedAt: number) => void;

export type CallMeterParts = Readonly<{
  usage: UsageMeter;
  quota?: QuotaLedger;
  observe?: RequestObserver;
}>;

/** The end of every request at every gate: counts it, charges for it, tells of it. */
export class CallMeter {
  readonly #parts: CallMeterParts;

  constructor(parts: CallMeterParts) {
    this.#parts = parts;
  }

  /** Counts a request that has ended. */
  end(visit: Visit, ending: Ending): void {
    const { usage, quota, observe } = this.#parts;
    const { key, startedAt } = visit;
    const { method, status, bytesIn, bytesOut, cost } = ending;
    const product = key?.product ?? ending.product;
    const credits = cost === null ? 0 : key === null ? cost : priceOf(key.limits, method, cost);
    const endedAt = performance.now();
    const nowMs = Date.now();
    const latencyMicros = (endedAt - startedAt) * 1_000;
    usage.record({ key, product, method, status, bytesIn, bytesOut, credits, latencyMicros }, nowMs);
    if (key !== null) quota?.spend(key, credits, nowMs, visit.held);
    observe?.(visit, ending, endedAt);
  }

  /** Counts a block of messages that were sent without asking again. */
  sent(sent: Omit<SentMessages, 'key' | 'credits'> & Readonly<{ key: KeyRecord }>): void {
    const { usage, quota } = this.#parts;
    const nowMs = Date.now();
    const credits = quota?.spendBytes(sent.key, sent.bytesOut, nowMs) ?? 0;
    usage.recordMessages({ ...sent, credits }, nowMs);
  }
}
