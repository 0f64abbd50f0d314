import { readAddress, readList } from '../bincode.ts';
import { type Variant, variant } from './variant.ts';

const table = ['lookupTableAccount', 'lookupTableAuthority'];

/** By u32 discriminant. Source: transaction-status/src/parse_address_lookup_table.rs */
export const addressLookupTableVariants: readonly Variant[] = [
  variant('createLookupTable', [...table, 'payerAccount', 'systemProgram'], (data) => ({
    recentSlot: data.u64(),
    bumpSeed: data.u8(),
  })),
  variant('freezeLookupTable', table),
  variant(
    'extendLookupTable',
    // The payer is named only together with the system program.
    (given) => (given.length >= 4 ? [...table, 'payerAccount', 'systemProgram'] : table),
    (data) => ({ newAddresses: readList(data, () => readAddress(data)) }),
  ),
  variant('deactivateLookupTable', table),
  variant('closeLookupTable', [...table, 'recipient']),
];
