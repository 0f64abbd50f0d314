import type { Account } from './account/account.ts';
import { type Address, addressFromBytes } from './address.ts';
import { pubkey, readOption, readOrNull } from './codec.ts';
import type { LoadedAddresses, Message } from './message/message.ts';
import { programs } from './programs.ts';
import type { TransactionError } from './transaction/transaction-error.ts';
import { type Slot, U64_MAX } from './units.ts';

const META_BYTES = 56;
const LOOKUP_TABLE = 1;
/** Number of slots a table stays usable after deactivation, equal to the length of the SlotHashes sysvar. */
const DEACTIVATION_COOLDOWN_SLOTS = 512n;

type TableFault = { fault: TransactionError };

/**
 * `deactivationSlot` is u64::MAX while the table is active; `authority` is null when frozen.
 * Source: solana-address-lookup-table-interface, `LookupTableMeta`.
 */
export function readLookupTable(data: Uint8Array) {
  if (data.length < META_BYTES || (data.length - META_BYTES) % 32 !== 0) return null;
  return readOrNull(data, (reader) => {
    if (reader.u32() !== LOOKUP_TABLE) return null;
    const deactivationSlot = reader.u64();
    const lastExtendedSlot = reader.u64();
    const lastExtendedSlotStartIndex = reader.u8();
    // If the authority is None, its 32 bytes are absent and padding fills the header.
    const authority = readOption(reader, pubkey.read);
    const meta = { deactivationSlot, lastExtendedSlot, lastExtendedSlotStartIndex, authority };
    return { meta, addresses: data.subarray(META_BYTES) };
  });
}

export type RawLookupTable = NonNullable<ReturnType<typeof readLookupTable>>;
type LookupTableMeta = RawLookupTable['meta'];

export function decodeAddressLookupTable(data: Uint8Array) {
  const table = readLookupTable(data);
  if (table === null) return null;
  const { meta, addresses: bytes } = table;
  const addresses = Array.from({ length: bytes.length / 32 }, (_, index) =>
    addressFromBytes(bytes.subarray(index * 32, index * 32 + 32)),
  );
  return { ...meta, addresses };
}

/** Addresses added in the current slot are not usable yet; a deactivated table stays usable for 512 slots. */
export function usableAddresses(
  { deactivationSlot, lastExtendedSlot, lastExtendedSlotStartIndex }: LookupTableMeta,
  count: number,
  currentSlot: Slot,
): { usable: number } | TableFault {
  if (deactivationSlot !== U64_MAX && currentSlot > deactivationSlot + DEACTIVATION_COOLDOWN_SLOTS) {
    return { fault: 'AddressLookupTableNotFound' };
  }
  if (currentSlot > lastExtendedSlot) return { usable: count };
  if (lastExtendedSlotStartIndex > count) return { fault: 'InvalidAddressLookupTableData' };
  return { usable: lastExtendedSlotStartIndex };
}

/**
 * A deactivated table expires after 512 slots. Agave looks up the deactivation slot in SlotHashes instead, which has
 * the same result while every slot has a block.
 * Source: agave accounts-db `load_lookup_table_addresses`, solana-address-lookup-table-interface.
 * @param readAccount - returns the account as of the start of `currentSlot`; null if it does not exist.
 */
export function resolveLookups(
  message: Message,
  readAccount: (address: Address) => Account | null,
  currentSlot: Slot,
): { loaded: LoadedAddresses } | TableFault {
  const writable: Address[] = [];
  const readonly: Address[] = [];
  for (const lookup of message.addressTableLookups) {
    const active = activeAddresses(readAccount(lookup.accountKey), currentSlot);
    if ('fault' in active) return active;
    for (const [indexes, into] of [
      [lookup.writableIndexes, writable],
      [lookup.readonlyIndexes, readonly],
    ] as const) {
      for (const index of indexes) {
        const address = active.addresses[index];
        if (address === undefined) return { fault: 'InvalidAddressLookupTableIndex' };
        into.push(address);
      }
    }
  }
  return { loaded: { writable, readonly } };
}

function activeAddresses(
  account: Account | null,
  currentSlot: Slot,
): { addresses: readonly Address[] } | TableFault {
  if (account === null) return { fault: 'AddressLookupTableNotFound' };
  if (account.owner !== programs.addressLookupTable) return { fault: 'InvalidAddressLookupTableOwner' };
  const table = decodeAddressLookupTable(account.data);
  if (table === null) return { fault: 'InvalidAddressLookupTableData' };
  const { addresses } = table;
  const found = usableAddresses(table, addresses.length, currentSlot);
  return 'fault' in found ? found : { addresses: addresses.slice(0, found.usable) };
}
