import type { Answer, Network } from './call.ts';
import type { Failure } from './errors.ts';
import type { Product } from './product.ts';

/** One call as a server hands it to the pipeline. */
export type Request = Readonly<{
  /** The API key as it was sent; null when none was. Goes no further than authentication. */
  credential: string | null;
  product: Product;
  network: Network;
  method: string;
  /** Raw JSON text of `params`; null when absent. */
  params: Buffer | null;
  /** Bytes the call took on the wire, for metering. */
  bytesIn: number;
}>;

/** Where the caller stands with the limit that was counted; shown as RateLimit headers. */
export type RateLimitState = Readonly<{
  limit: number;
  remaining: number;
  windowSeconds: number;
  resetSeconds: number;
}>;

export type Outcome = Readonly<
  | { answer: Answer; failure: null; rateLimit: RateLimitState | null }
  | { answer: null; failure: Failure; rateLimit: RateLimitState | null }
>;

/** The way of a request, as servers see it. Never rejects: what went wrong is in the outcome. */
export type Serve = (request: Request, signal?: AbortSignal) => Promise<Outcome>;
