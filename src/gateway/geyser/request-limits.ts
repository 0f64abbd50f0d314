import type { PlanLimits } from '../../access/key-record.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { cuckooBytes, filtersCount, pubkeysCount } from '../../streams/geyser/filters/weigh.ts';

type StreamRequest = SubscribeRequest | SubscribeDeshredRequest;

/** So many addresses of a request cost the rate limit another call. */
const ADDRESSES_OF_A_CALL = 1_000;

/**
 * Holds a request against a plan, in the words of the wire's other servers.
 * @throws Failure FILTER_LIMIT.
 */
export function checkPlan(request: StreamRequest, limits: PlanLimits): void {
  const refuseAbove = (count: number, max: number, of: string): void => {
    if (count > max) throw new Failure('FILTER_LIMIT', { facts: { of, max } });
  };
  refuseAbove(filtersCount(request), limits.grpcFiltersMax, 'filters');
  refuseAbove(pubkeysCount(request), limits.grpcPubkeysMax, 'Pubkeys');
  refuseAbove(cuckooBytes(request), limits.grpcCuckooMaxBytes, 'bytes of cuckoo filters');
}

/** Calls that a request costs besides the one that every request does. */
export const callsOf = (request: StreamRequest): number =>
  Math.floor(pubkeysCount(request) / ADDRESSES_OF_A_CALL);
