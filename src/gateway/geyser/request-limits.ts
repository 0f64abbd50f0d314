import type { PlanLimits } from '../../access/key-record.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { blocksCount, cuckooBytes, filtersCount, pubkeysCount } from '../../streams/geyser/filters/weigh.ts';
import { callsOfAddresses } from '../addresses-of.ts';

type StreamRequest = SubscribeRequest | SubscribeDeshredRequest;

/** A filter of blocks is told megabytes of each. */
const CALLS_OF_BLOCKS = 1;
/** A stream that begins in the past is told many slots at once. */
const CALLS_OF_THE_PAST = 10;

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
export const callsOf = (request: StreamRequest): number =>
  callsOfAddresses(pubkeysCount(request)) +
  blocksCount(request) * CALLS_OF_BLOCKS +
  (('fromSlot' in request ? request.fromSlot : undefined) === undefined ? 0 : CALLS_OF_THE_PAST);
