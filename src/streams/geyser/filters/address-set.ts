import { CuckooFilter } from '../../../protocol/geyser/cuckoo-filter.ts';
import type { RawKeys } from '../../../protocol/geyser/raw-update.ts';
import type { CuckooFilterMessage } from '../../../protocol/geyser/subscribe-request.ts';
import { type Address, addressBytes } from '../../../solana/address.ts';
import { AddressTable, sameAddress } from './address-table.ts';

export type Cuckoo = Pick<CuckooFilter, 'has'>;

/** @throws GrpcError INVALID_ARGUMENT */
export const compileCuckoo = (message: CuckooFilterMessage | undefined): Cuckoo | null =>
  message === undefined ? null : new CuckooFilter(message);

/** Sets up to this size are searched linearly: most filters have one address, and tables are large. */
const COMPARED_MAX = 4;

export class AddressSet {
  /** 32 bytes each. */
  readonly addresses: readonly Uint8Array[];
  readonly #table: AddressTable<true> | null;

  constructor(list: readonly Address[]) {
    this.addresses = Array.from(new Set(list), addressBytes);
    this.#table = this.addresses.length > COMPARED_MAX ? new AddressTable() : null;
    if (this.#table !== null) for (const each of this.addresses) this.#table.set(each, 0, true);
  }

  /** @param at - offset of a 32-byte address. */
  has(bytes: Uint8Array, at: number): boolean {
    if (this.#table !== null) return this.#table.has(bytes, at);
    for (const each of this.addresses) {
      if (sameAddress(each, 0, bytes, at)) return true;
    }
    return false;
  }
}

export function setOrNull(list: readonly Address[] | undefined): AddressSet | null {
  return list === undefined || list.length === 0 ? null : new AddressSet(list);
}

export function overlaps(set: Pick<AddressSet, 'has'>, { bytes, offsets }: RawKeys): boolean {
  for (const offset of offsets) {
    if (set.has(bytes, offset)) return true;
  }
  return false;
}
