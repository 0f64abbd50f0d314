import { CuckooFilter } from '../../../protocol/geyser/cuckoo-filter.ts';
import type { CuckooFilterMessage } from '../../../protocol/geyser/subscribe-request.ts';

/** Many addresses in little room. */
export type Cuckoo = Pick<CuckooFilter, 'has'>;

/**
 * @returns null when none was sent.
 * @throws GrpcError INVALID_ARGUMENT
 */
export const compileCuckoo = (message: CuckooFilterMessage | undefined): Cuckoo | null =>
  message === undefined ? null : new CuckooFilter(message);
