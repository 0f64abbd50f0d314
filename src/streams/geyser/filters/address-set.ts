import { CuckooFilter } from '../../../protocol/geyser/cuckoo-filter.ts';
import type { RawKeys } from '../../../protocol/geyser/raw-update.ts';
import type { CuckooFilterMessage } from '../../../protocol/geyser/subscribe-request.ts';
import { type Address, addressBytes } from '../../../solana/address.ts';
import { AddressTable, sameAddress } from './address-table.ts';

/** Many addresses in little room. */
export type Cuckoo = Pick<CuckooFilter, 'has'>;

/**
 * @returns null when none was sent.
 * @throws GrpcError INVALID_ARGUMENT
 */
export const compileCuckoo = (message: CuckooFilterMessage | undefined): Cuckoo | null =>
  message === undefined ? null : new CuckooFilter(message);

/** So few are compared one by one: most filters name one address, and a table for each takes much room. */
const COMPARED_MAX = 4;

/** Addresses, each once, in the order in which they were first given. */
export class AddressSet {
  /** 32 bytes each. */
  readonly addresses: readonly Uint8Array[];
  /** null where they are few. */
  readonly #table: AddressTable<true> | null;

  constructor(list: readonly Address[]) {
    this.addresses = Array.from(new Set(list), addressBytes);
    this.#table = this.addresses.length > COMPARED_MAX ? new AddressTable() : null;
    if (this.#table !== null) for (const each of this.addresses) this.#table.set(each, 0, true);
  }

  /** Whether the 32 bytes from `at` on are one of them. */
  has(bytes: Uint8Array, at: number): boolean {
    if (this.#table !== null) return this.#table.has(bytes, at);
    for (const each of this.addresses) {
      if (sameAddress(each, 0, bytes, at)) return true;
    }
    return false;
  }
}

/** The set of a list that names any; null for one that asks nothing. */
export function setOrNull(list: readonly Address[] | undefined): AddressSet | null {
  return list === undefined || list.length === 0 ? null : new AddressSet(list);
}

/** Whether any of the keys is in there. */
export function overlaps(set: Pick<AddressSet, 'has'>, { bytes, offsets }: RawKeys): boolean {
  for (const offset of offsets) {
    if (set.has(bytes, offset)) return true;
  }
  return false;
}
