import type { CuckooFilterMessage } from '../../../protocol/geyser/subscribe-request.ts';
import { InvalidFilter } from './invalid-filter.ts';

/** Many addresses in little room. */
export interface Cuckoo {
  has(bytes: Uint8Array, at: number): boolean;
}

/** @returns null when none was sent. */
export function compileCuckoo(message: CuckooFilterMessage | undefined): Cuckoo | null {
  if (message === undefined) return null;
  throw new InvalidFilter('cuckoo filters are not known');
}
