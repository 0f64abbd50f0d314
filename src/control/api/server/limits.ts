import { PerKeySemaphore } from '../../../base/concurrency/per-key-semaphore.ts';
import { parseIpAddress } from '../../../base/ip-address.ts';
import { ApiError } from '../api-error.ts';

/** What bounds the control API. */
export type ControlApiOptions = Readonly<{
  /** Bytes of a request's body. */
  bodyMaxBytes: number;
  /** Milliseconds that a body may take to arrive. */
  bodyTimeoutMs: number;
  /** Requests that are answered at a time. As many bodies may be arriving besides. */
  requestsMax: number;
  /** Those of one site: an address of IPv4, 64 bits of IPv6; of bodies too. */
  siteRequestsMax: number;
  /** Answers that go on, such as live tails, at a time. */
  streamsMax: number;
  /** Those of one user or token. As many are there for operators besides `streamsMax`. */
  callerStreamsMax: number;
  /** Milliseconds after which a live tail that is silent gets a comment, so that nobody takes it for dead. */
  heartbeatMs: number;
  /** Milliseconds from one look whether who follows a live tail still may, to the next. */
  recheckMs: number;
}>;

/** What holds unless something else is set. */
export const controlApiOptions: ControlApiOptions = {
  bodyMaxBytes: 256 * 1_024,
  bodyTimeoutMs: 5_000,
  requestsMax: 500,
  siteRequestsMax: 100,
  streamsMax: 100,
  callerStreamsMax: 10,
  heartbeatMs: 15_000,
  recheckMs: 1_000,
};

type Bounds = Pick<ControlApiOptions, 'requestsMax' | 'siteRequestsMax' | 'streamsMax' | 'callerStreamsMax'>;

const createSemaphore = (permitsMax: number, keyPermitsMax: number): PerKeySemaphore =>
  new PerKeySemaphore({ permitsMax, keyPermitsMax, waitingMax: 0, keyWaitingMax: 0, waitMs: 0 });

/**
 * The places of the control API: for bodies that arrive, for requests that are answered, for answers that go on. Each
 * is shared, so that one client, user or token alone never has all, and bodies keep nobody out who sends none.
 */
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

  /** Does `work` in a place for a body of this client's. @throws ApiError 503 */
  forBody<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    return withPermit(this.#bodies, subnetOf(address), work);
  }

  /** Does `work` in a place for a request of this client's. @throws ApiError 503 */
  forRequest<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    return withPermit(this.#requests, subnetOf(address), work);
  }

  /** Takes a place for an answer that goes on. @returns what gives it back. @throws ApiError 503 */
  async acquireStream(key: string, isOperator: boolean): Promise<() => void> {
    if (await this.#streams.acquire(key)) return () => this.#streams.release(key);
    if (isOperator && (await this.#operatorStreams.acquire(key)))
      return () => this.#operatorStreams.release(key);
    throw overloaded('too many long answers are under way', 5);
  }
}

async function withPermit<Result>(semaphore: PerKeySemaphore, key: string, work: () => Promise<Result>) {
  if (!(await semaphore.acquire(key))) throw overloaded('too many requests are under way', 1);
  try {
    return await work();
  } finally {
    semaphore.release(key);
  }
}

const subnetOf = (address: string): string => parseIpAddress(address)?.site ?? address;

const overloaded = (what: string, retryAfter: number): ApiError =>
  new ApiError(503, 'OVERLOADED', `${what}: try again soon`, { retryAfter });
