import type { Failure } from '../protocol/errors.ts';
import type { ClientInfo } from '../protocol/request-handler.ts';
import type { RequestTrace } from '../protocol/request-trace.ts';
import type { LoadedKey } from './auth/key-state.ts';
import type { RateDecision } from './limits/rate-limiter.ts';

/** State of one request. Times are milliseconds of `performance.now()`. */
export class RequestContext {
  readonly client: ClientInfo;
  readonly startedAt = performance.now();
  /** Set as soon as the key is identified, also when its use is then refused. */
  key: LoadedKey | null = null;
  /** Why authentication failed; null: it did not. */
  refusal: Failure | null = null;
  authenticatedAt: number | null = null;
  /** When the request passed the rate limits. */
  limitedAt: number | null = null;
  /** Decision of the limit that was checked last. */
  rateDecision: RateDecision | null = null;
  /** Credits reserved of the key's quota until the request ends. */
  reservedCredits = 0;
  /** Null for a request that is not sampled. */
  trace: RequestTrace | null = null;

  constructor(client: ClientInfo) {
    this.client = client;
  }
}
