import { Failure } from '../../protocol/errors.ts';
import type { SubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import {
  blocksCount,
  cuckooBytes,
  filtersCount,
  pubkeysCount,
} from '../../streams/geyser/filters/request-size.ts';
import type { PlanLimits } from '../auth/key-record.ts';
import { callsForAddresses } from '../limits/address-cost.ts';

type StreamRequest = SubscribeRequest | SubscribeDeshredRequest;

/** A filter of blocks is told megabytes of each. */
const CALLS_PER_BLOCK_FILTER = 1;
/** A stream that begins in the past is told many slots at once. */
const CALLS_PER_REPLAY = 10;

/**
 * Holds a request against a plan, in the words of the wire's other servers.
 * @throws Failure FILTER_LIMIT.
 */
export function checkPlan(request: StreamRequest, limits: PlanLimits): void {
  const refuseAbove = (count: number, max: number, of: string): void => {
    if (count > max) throw new Failure('FILTER_LIMIT', { facts: { of, max } });
  };
  refuseAbove(filtersCount(request), limits.grpcFiltersMax, 'filters');
  refuseAbove(blocksCount(request), limits.grpcBlocksMax, 'block filters');
  refuseAbove(pubkeysCount(request), limits.grpcPubkeysMax, 'Pubkeys');
  refuseAbove(cuckooBytes(request), limits.grpcCuckooMaxBytes, 'bytes of cuckoo filters');
}

/** Calls that a request costs besides the one that every request does. */
export const extraCallsOf = (request: StreamRequest): number =>
  callsForAddresses(pubkeysCount(request)) +
  blocksCount(request) * CALLS_PER_BLOCK_FILTER +
  (('fromSlot' in request ? request.fromSlot : undefined) === undefined ? 0 : CALLS_PER_REPLAY);
