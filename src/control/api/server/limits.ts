import { PerKeySemaphore } from '../../../base/concurrency/per-key-semaphore.ts';
import { subnetOf } from '../../accounts/sign-in-attempts.ts';
import { ApiError } from '../api-error.ts';

export const controlApiOptions = {
  /** Limits of a request body. */
  bodyMaxBytes: 256 * 1_024,
  bodyTimeoutMs: 5_000,
  /** Concurrent requests; as many bodies may arrive in addition. */
  requestsMax: 500,
  /** Per subnet: IPv4 address or IPv6 /64; for bodies, too. */
  siteRequestsMax: 100,
  /** Concurrent long-lived responses such as live tails. */
  streamsMax: 100,
  /** Per user or token. Operators have as many in addition to `streamsMax`. */
  callerStreamsMax: 10,
  /** Milliseconds between keep-alive comments of a live tail. */
  heartbeatMs: 15_000,
  /** Milliseconds between authorization checks of a live tail. */
  recheckMs: 1_000,
};

export type ControlApiOptions = Readonly<typeof controlApiOptions>;

type Bounds = Pick<ControlApiOptions, 'requestsMax' | 'siteRequestsMax' | 'streamsMax' | 'callerStreamsMax'>;

const createSemaphore = (permitsMax: number, keyPermitsMax: number): PerKeySemaphore =>
  new PerKeySemaphore({ permitsMax, keyPermitsMax, waitingMax: 0, keyWaitingMax: 0, waitMs: 0 });

/** Concurrency limits for bodies, requests and long-lived responses, each shared fairly between clients. */
export class ApiConcurrency {
  readonly #bodies: PerKeySemaphore;
  readonly #requests: PerKeySemaphore;
  readonly #streams: PerKeySemaphore;
  readonly #operatorStreams: PerKeySemaphore;

  constructor({ requestsMax, siteRequestsMax, streamsMax, callerStreamsMax }: Bounds) {
    this.#bodies = createSemaphore(requestsMax, siteRequestsMax);
    this.#requests = createSemaphore(requestsMax, siteRequestsMax);
    this.#streams = createSemaphore(streamsMax, callerStreamsMax);
    this.#operatorStreams = createSemaphore(callerStreamsMax, callerStreamsMax);
  }

  /** @throws ApiError 503 */
  forBody<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    return withPermit(this.#bodies, subnetOf(address), work);
  }

  /** @throws ApiError 503 */
  forRequest<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    return withPermit(this.#requests, subnetOf(address), work);
  }

  /**
   * @returns releases the slot.
   * @throws ApiError 503
   */
  async acquireStream(key: string, isOperator: boolean): Promise<() => void> {
    if (await this.#streams.acquire(key)) return () => this.#streams.release(key);
    if (isOperator && (await this.#operatorStreams.acquire(key)))
      return () => this.#operatorStreams.release(key);
    throw overloaded('Too many concurrent streams', 5);
  }
}

async function withPermit<Result>(semaphore: PerKeySemaphore, key: string, work: () => Promise<Result>) {
  if (!(await semaphore.acquire(key))) throw overloaded('Too many concurrent requests', 1);
  try {
    return await work();
  } finally {
    semaphore.release(key);
  }
}

const overloaded = (what: string, retryAfter: number): ApiError =>
  new ApiError(503, 'OVERLOADED', `${what}. Try again soon.`, { retryAfter });
