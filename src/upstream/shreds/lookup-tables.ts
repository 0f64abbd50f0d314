import { Lru } from '../../base/cache/lru.ts';
import type { Logger } from '../../base/log.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { addressBytes } from '../../solana/address.ts';
import { type RawLookupTable, readLookupTable, usableAddresses } from '../../solana/address-lookup-table.ts';
import { programs } from '../../solana/programs.ts';
import type { WireLookup } from '../../solana/transaction/wire-transaction.ts';
import type { Slot } from '../../solana/units.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { ShredLimits } from './shred-limits.ts';
import { TableLoader } from './table-loader.ts';

/** What `LookupTables.tell` should be told: every write of a table. */
export const lookupTableRequest: SubscribeRequest = {
  accounts: new Map([['lookup-tables', { owner: [programs.addressLookupTable] }]]),
  commitment: 'processed',
};

/** Addresses from lookup tables, 32 bytes each, in the order in which instructions index them. */
export type LoadedAddresses = Readonly<{ writable: readonly Uint8Array[]; readonly: readonly Uint8Array[] }>;

type LookupTablesOptions = Readonly<{
  reader: Pick<ChainReader, 'request'>;
  limits: Pick<
    ShredLimits,
    'tablesMax' | 'tablesWaitingMax' | 'tablesGatherMs' | 'tableReadsMax' | 'tableAbsentMs'
  >;
  log: Logger;
}>;

type CachedTable = Readonly<{ table: RawLookupTable; slot: Slot; writeVersion: bigint }>;

const ADDRESS_BYTES = 32;
const OWNER = Buffer.from(addressBytes(programs.addressLookupTable));

/** @returns false when the table has no such address. */
function addAddresses(
  into: Uint8Array[],
  addresses: Uint8Array,
  indexes: Uint8Array,
  usable: number,
): boolean {
  for (const index of indexes) {
    if (index >= usable) return false;
    into.push(addresses.subarray(index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES));
  }
  return true;
}

/**
 * Lookup tables as far as they are known: told by the stream of accounts, and read from the nodes when a transaction
 * needs one that was not. Nobody waits for a table: what is not known is not told, and is known the next time.
 *
 * The state is that of the newest slot that was heard of, on whatever fork, and a table that was extended meanwhile is
 * known only when its write was told: the addresses are what the transaction will very probably load.
 */
export class LookupTables {
  readonly #tables: Lru<string, CachedTable>;
  readonly #reads: TableLoader;
  /** Transactions whose addresses could not be told. */
  unresolved = 0;

  constructor(options: LookupTablesOptions) {
    this.#tables = new Lru(options.limits.tablesMax);
    const onTable = (key: string, data: Uint8Array, slot: Slot): void => this.#learn(key, data, slot, 0n);
    this.#reads = new TableLoader({ ...options, onTable });
  }

  /** How many tables are known. */
  get size(): number {
    return this.#tables.size;
  }

  /** A write of an account; one that is no table is passed over. */
  onAccount({ address, owner, data, slot, writeVersion }: RawAccount): void {
    // The update's memory may be part of much more.
    if (OWNER.equals(owner)) this.#learn(bytesKey(address), new Uint8Array(data), slot, writeVersion);
  }

  /**
   * The addresses that a transaction of a slot loads: all of them, since instructions index into the whole list.
   * Source of the rules: agave accounts-db `load_lookup_table_addresses`.
   * @returns null when one of its tables is not known, or has no such address that the slot may use.
   */
  resolve(lookups: readonly WireLookup[], slot: Slot): LoadedAddresses | null {
    const writable: Uint8Array[] = [];
    const readonly: Uint8Array[] = [];
    let isComplete = true;
    // All are looked at, so that every table that is missing is asked for.
    for (const lookup of lookups) isComplete = this.#load(lookup, slot, writable, readonly) && isComplete;
    if (isComplete) return { writable, readonly };
    this.unresolved++;
    return null;
  }

  /** Asks no more. */
  close(): void {
    this.#reads.close();
  }

  #learn(key: string, data: Uint8Array, slot: Slot, writeVersion: bigint): void {
    const cached = this.#tables.get(key);
    if (cached !== undefined && slot < cached.slot) return;
    if (cached !== undefined && slot === cached.slot && writeVersion < cached.writeVersion) return;
    const table = readLookupTable(data);
    if (table === null) this.#tables.delete(key);
    else this.#tables.set(key, { table, slot, writeVersion });
  }

  #load(lookup: WireLookup, slot: Slot, writable: Uint8Array[], readonly: Uint8Array[]): boolean {
    const { accountKey, writableIndexes, readonlyIndexes } = lookup;
    const key = bytesKey(accountKey);
    const cached = this.#tables.get(key);
    if (cached === undefined) {
      this.#reads.request(key);
      return false;
    }
    const { meta, addresses } = cached.table;
    const found = usableAddresses(meta, addresses.length / ADDRESS_BYTES, slot);
    if ('fault' in found) return false;
    const isComplete =
      addAddresses(writable, addresses, writableIndexes, found.usable) &&
      addAddresses(readonly, addresses, readonlyIndexes, found.usable);
    // Perhaps it has been extended since.
    if (!isComplete) this.#reads.request(key);
    return isComplete;
  }
}
