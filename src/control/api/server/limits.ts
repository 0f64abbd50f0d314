import { PerKeySemaphore } from '../../../base/concurrency/per-key-semaphore.ts';
import { subnetOf } from '../../../base/ip-address.ts';
import { ApiError } from '../api-error.ts';

export const controlApiOptions = {
  bodyMaxBytes: 256 * 1_024,
  bodyTimeoutMs: 5_000,
  /** Maximum concurrent requests. The same limit applies separately to request bodies being received. */
  requestsMax: 500,
  /** Maximum concurrent requests per subnet (IPv4 address or IPv6 /64). Applies separately to bodies being received. */
  subnetRequestsMax: 100,
  /** Maximum concurrent streamed responses, such as live tails and exports. */
  streamsMax: 100,
  /** Maximum streams per user or token. The same number, on top of `streamsMax`, is reserved for operators. */
  callerStreamsMax: 10,
  /** Interval between keep-alive comments in a live tail. */
  heartbeatMs: 15_000,
  /** Interval between authorization checks of a live tail. */
  recheckMs: 1_000,
};

export type ControlApiOptions = Readonly<typeof controlApiOptions>;

const createSemaphore = (permitsMax: number, keyPermitsMax: number): PerKeySemaphore =>
  new PerKeySemaphore({ permitsMax, keyPermitsMax, waitingMax: 0, keyWaitingMax: 0, waitMs: 0 });

export type ApiConcurrency = ReturnType<typeof apiConcurrency>;

/** Limits concurrency in total and per client. All methods throw ApiError 503 at a limit. */
export function apiConcurrency(options: ControlApiOptions) {
  const { requestsMax, subnetRequestsMax, streamsMax, callerStreamsMax } = options;
  const bodies = createSemaphore(requestsMax, subnetRequestsMax);
  const requests = createSemaphore(requestsMax, subnetRequestsMax);
  const streams = createSemaphore(streamsMax, callerStreamsMax);
  const operatorStreams = createSemaphore(callerStreamsMax, callerStreamsMax);
  return {
    forBody: <Result>(address: string, work: () => Promise<Result>) =>
      withPermit(bodies, subnetOf(address), work),
    forRequest: <Result>(address: string, work: () => Promise<Result>) =>
      withPermit(requests, subnetOf(address), work),
    /** @returns a function that releases the slot. */
    async acquireStream(key: string, isOperator: boolean): Promise<() => void> {
      if (await streams.acquire(key)) return () => streams.release(key);
      if (isOperator && (await operatorStreams.acquire(key))) return () => operatorStreams.release(key);
      throw overloaded('Too many concurrent streams', 5);
    },
  };
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
