import { parseIpAddress } from '../../../base/ip-address.ts';
import { OwnerPlaces } from '../../../base/owner-places.ts';
import { ApiError } from '../api-error.ts';
import type { ControlApiOptions } from './options.ts';

type Bounds = Pick<ControlApiOptions, 'requestsMax' | 'siteRequestsMax' | 'streamsMax' | 'callerStreamsMax'>;

const placesOf = (placesMax: number, ownerPlacesMax: number): OwnerPlaces =>
  new OwnerPlaces({ placesMax, ownerPlacesMax, waitingMax: 0, ownerWaitingMax: 0, waitMs: 0 });

/**
 * The places of the control API: for bodies that arrive, for requests that are answered, for answers that go on. Each
 * is shared, so that one client, user or token alone never has all, and bodies keep nobody out who sends none.
 */
export class ApiPlaces {
  readonly #bodies: OwnerPlaces;
  readonly #requests: OwnerPlaces;
  readonly #streams: OwnerPlaces;
  readonly #operatorStreams: OwnerPlaces;

  constructor({ requestsMax, siteRequestsMax, streamsMax, callerStreamsMax }: Bounds) {
    this.#bodies = placesOf(requestsMax, siteRequestsMax);
    this.#requests = placesOf(requestsMax, siteRequestsMax);
    this.#streams = placesOf(streamsMax, callerStreamsMax);
    this.#operatorStreams = placesOf(callerStreamsMax, callerStreamsMax);
  }

  /** Does `work` in a place for a body of this client's. @throws ApiError 503 */
  forBody<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    return inPlace(this.#bodies, siteOf(address), work);
  }

  /** Does `work` in a place for a request of this client's. @throws ApiError 503 */
  forRequest<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    return inPlace(this.#requests, siteOf(address), work);
  }

  /** Takes a place for an answer that goes on. @returns what gives it back. @throws ApiError 503 */
  async takeStream(owner: string, isOperator: boolean): Promise<() => void> {
    if (await this.#streams.take(owner)) return () => this.#streams.giveBack(owner);
    if (isOperator && (await this.#operatorStreams.take(owner)))
      return () => this.#operatorStreams.giveBack(owner);
    throw overloaded('too many long answers are under way', 5);
  }
}

async function inPlace<Result>(places: OwnerPlaces, owner: string, work: () => Promise<Result>) {
  if (!(await places.take(owner))) throw overloaded('too many requests are under way', 1);
  try {
    return await work();
  } finally {
    places.giveBack(owner);
  }
}

const siteOf = (address: string): string => parseIpAddress(address)?.site ?? address;

const overloaded = (what: string, retryAfter: number): ApiError =>
  new ApiError(503, 'OVERLOADED', `${what}: try again soon`, { retryAfter });
