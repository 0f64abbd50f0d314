import { type Address, addressBytes } from '../../../ledger/address.ts';
import type { RawKeys } from '../../../protocol/geyser/raw-update.ts';
import { AddressTable } from './address-table.ts';

/** Addresses, each once, in the order in which they were first given. */
export class AddressSet {
  readonly #table = new AddressTable<true>();
  readonly #addresses: Uint8Array[] = [];

  /** @param addresses - 32 bytes each. */
  constructor(addresses: Iterable<Uint8Array>) {
    for (const bytes of addresses) {
      if (this.#table.has(bytes, 0)) continue;
      this.#table.set(bytes, 0, true);
      this.#addresses.push(bytes);
    }
  }

  get addresses(): readonly Uint8Array[] {
    return this.#addresses;
  }

  has(bytes: Uint8Array, at: number): boolean {
    return this.#table.has(bytes, at);
  }
}

/** The set of a list that names any; null for one that asks nothing. */
export function setOrNull(list: readonly Address[] | undefined): AddressSet | null {
  return list === undefined || list.length === 0 ? null : new AddressSet(list.map(addressBytes));
}

/** Whether any of the keys is in there. */
export function overlaps(set: Pick<AddressSet, 'has'>, { bytes, offsets }: RawKeys): boolean {
  for (const offset of offsets) {
    if (set.has(bytes, offset)) return true;
  }
  return false;
}
