import { decodeAddressLookupTable } from '../../address-lookup-table.ts';
import type { AccountParts } from './parsed-account.ts';

const isUninitialized = (data: Uint8Array): boolean =>
  data.length >= 4 && data.subarray(0, 4).every((byte) => byte === 0);

/** Source: account-decoder/src/parse_address_lookup_table.rs */
export function parseAddressLookupTable(data: Uint8Array): AccountParts | null {
  if (isUninitialized(data)) return { type: 'uninitialized' };
  const table = decodeAddressLookupTable(data);
  if (table === null) return null;
  return {
    type: 'lookupTable',
    info: {
      addresses: table.addresses,
      authority: table.authority ?? undefined,
      deactivationSlot: String(table.deactivationSlot),
      lastExtendedSlot: String(table.lastExtendedSlot),
      lastExtendedSlotStartIndex: table.lastExtendedSlotStartIndex,
    },
  };
}
