import type { ClientInfo } from '../protocol/request-handler.ts';
import type { RequestTrace } from '../protocol/request-trace.ts';
import type { KeyRecord } from './auth/key-record.ts';
import type { RateDecision } from './limits/rate-limiter.ts';

/**
 * One request on its way, and what was found out about it: for the answer, for whoever counts it and for whoever logs
 * it. Times are milliseconds of `performance.now()`.
 */
export class RequestContext {
  readonly client: ClientInfo;
  readonly startedAt = performance.now();
  /** Whose it is, once that is known. */
  key: KeyRecord | null = null;
  /** When it was known whose it is, and that the key may be used from there; null: it never was. */
  authenticatedAt: number | null = null;
  /** When it had passed what limits it; null: it never did. */
  limitedAt: number | null = null;
  /** What the limit said that was asked last; null: none was, or there is none. */
  rateDecision: RateDecision | null = null;
  /** Credits that are held of the key's quota until it has ended. */
  reservedCredits = 0;
  /** Hears of it step by step; null: nobody wants to. */
  trace: RequestTrace | null = null;

  constructor(client: ClientInfo) {
    this.client = client;
  }
}
