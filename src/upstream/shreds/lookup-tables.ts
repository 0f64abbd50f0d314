import { Lru } from '../../base/cache/lru.ts';
import { type JsonValue, parseJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { addressBytes, addressFromBytes } from '../../solana/address.ts';
import { type RawLookupTable, readLookupTable, usableAddresses } from '../../solana/address-lookup-table.ts';
import { programs } from '../../solana/programs.ts';
import type { WireLookup } from '../../solana/transaction/wire-transaction.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { ShredLimits } from './shreds-config.ts';

type TableLoaderOptions = Readonly<{
  reader: Pick<ChainReader, 'request'>;
  limits: Pick<ShredLimits, 'tablesWaitingMax' | 'tablesGatherMs' | 'tableReadsMax' | 'tableReadIntervalMs'>;
  log: Logger;
  /** The callee owns `data`. */
  onTable: (key: string, data: Uint8Array, slot: Slot) => void;
}>;

/** Source: Agave, `MAX_MULTIPLE_ACCOUNTS`. */
const ADDRESSES_MAX = 100;

type LoadedTables = Readonly<{ slot: Slot; accounts: readonly (Uint8Array | null)[] }>;

/** Null if the account is not a lookup table. */
function dataOf(value: JsonValue): Uint8Array | null {
  const { owner, data } = (value ?? {}) as { owner?: JsonValue; data?: JsonValue };
  if (owner !== programs.addressLookupTable || !Array.isArray(data) || typeof data[0] !== 'string')
    return null;
  // Copied, because small results of `Buffer.from` share a pool.
  return new Uint8Array(Buffer.from(data[0], 'base64'));
}

function readResponse(json: string, expected: number): LoadedTables | null {
  const response = parseJson(json) as { context?: { slot?: JsonValue }; value?: JsonValue } | null;
  const slot = response?.context?.slot;
  const value = response?.value;
  if (typeof slot !== 'number' || !Number.isSafeInteger(slot) || slot < 0) return null;
  if (!Array.isArray(value) || value.length !== expected) return null;
  return { slot: slotOf(slot), accounts: value.map(dataOf) };
}

/** Loads tables from nodes. Requests a table again only after a pause, regardless of the result. */
export class TableLoader {
  readonly #options: TableLoaderOptions;
  /** Table addresses (32 bytes) as Latin-1 strings. */
  readonly #waiting = new Set<string>();
  readonly #notBefore: Lru<string, number>;
  readonly #abort = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #inFlight = 0;
  #isFailing = false;

  constructor(options: TableLoaderOptions) {
    this.#options = options;
    this.#notBefore = new Lru(options.limits.tablesWaitingMax);
  }

  request(key: string): void {
    const { tablesWaitingMax, tablesGatherMs } = this.#options.limits;
    if (this.#waiting.has(key) || this.#waiting.size >= tablesWaitingMax) return;
    if ((this.#notBefore.get(key) ?? 0) > performance.now() || this.#abort.signal.aborted) return;
    this.#waiting.add(key);
    this.#timer ??= setTimeout(() => this.#readAll(), tablesGatherMs);
  }

  close(): void {
    this.#abort.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #readAll(): void {
    this.#timer = null;
    while (this.#inFlight < this.#options.limits.tableReadsMax && this.#waiting.size > 0) {
      void this.#read(this.#takeBatch());
    }
  }

  #takeBatch(): string[] {
    const keys: string[] = [];
    for (const key of this.#waiting) {
      if (keys.length === ADDRESSES_MAX) break;
      keys.push(key);
    }
    const until = performance.now() + this.#options.limits.tableReadIntervalMs;
    for (const key of keys) {
      this.#waiting.delete(key);
      this.#notBefore.set(key, until);
    }
    return keys;
  }

  async #read(keys: readonly string[]): Promise<void> {
    this.#inFlight++;
    try {
      const addresses = keys.map((key) => addressFromBytes(Buffer.from(key, 'latin1')));
      const config = { encoding: 'base64', commitment: 'processed' };
      const { reader } = this.#options;
      const body = await reader.request('getMultipleAccounts', [addresses, config], this.#abort.signal);
      const loaded = readResponse(body.toString('latin1'), keys.length);
      if (loaded === null) throw new TypeError('unexpected getMultipleAccounts result');
      keys.forEach((key, index) => {
        const data = loaded.accounts[index] ?? null;
        if (data !== null) this.#options.onTable(key, data, loaded.slot);
      });
      this.#isFailing = false;
    } catch (error) {
      this.#logFailure(error);
    }
    this.#inFlight--;
    if (!this.#abort.signal.aborted) this.#readAll();
  }

  #logFailure(error: unknown): void {
    if (this.#abort.signal.aborted || this.#isFailing) return;
    this.#isFailing = true;
    const reason = error instanceof Error ? error.message : 'unknown';
    this.#options.log.warn({ reason }, 'Failed to read lookup tables; their addresses are omitted');
  }
}

/** Requests all writes to lookup tables, for `onAccount`. */
export const lookupTableRequest: SubscribeRequest = {
  accounts: new Map([['lookup-tables', { owner: [programs.addressLookupTable] }]]),
  commitment: 'processed',
};

/** Addresses of 32 bytes, in the order in which instructions index them. */
export type LoadedAddresses = Readonly<{ writable: readonly Uint8Array[]; readonly: readonly Uint8Array[] }>;

type LookupTablesOptions = Omit<TableLoaderOptions, 'onTable'> &
  Readonly<{ limits: Pick<ShredLimits, 'tablesMax'> }>;

const ADDRESS_BYTES = 32;
const OWNER = Buffer.from(addressBytes(programs.addressLookupTable));

/** @returns false if an index is beyond the end of the table. */
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
 * Lookup tables from account updates, and from nodes when a transaction needs an unknown table. Lookups never wait:
 * addresses of an unknown table are omitted until the table is loaded. Uses the newest state received on any fork, so
 * the addresses are very likely, but not certainly, correct.
 */
export class LookupTables {
  readonly #tables: Lru<string, Readonly<{ table: RawLookupTable; slot: Slot; writeVersion: bigint }>>;
  readonly #loader: TableLoader;
  unresolved = 0;

  constructor(options: LookupTablesOptions) {
    this.#tables = new Lru(options.limits.tablesMax);
    const onTable = (key: string, data: Uint8Array, slot: Slot): void => this.#store(key, data, slot, 0n);
    this.#loader = new TableLoader({ ...options, onTable });
  }

  get size(): number {
    return this.#tables.size;
  }

  onAccount({ address, owner, data, slot, writeVersion }: RawAccount): void {
    // Copied, because the update may be a view of a larger buffer.
    if (OWNER.equals(owner)) this.#store(bytesKey(address), new Uint8Array(data), slot, writeVersion);
  }

  /** Resolves all lookups or none: instructions index the joined list. Source: agave `load_lookup_table_addresses`. */
  resolve(lookups: readonly WireLookup[], slot: Slot): LoadedAddresses | null {
    const writable: Uint8Array[] = [];
    const readonly: Uint8Array[] = [];
    let isComplete = true;
    // Does not stop at the first unknown table, so that every unknown table is requested.
    for (const lookup of lookups) isComplete = this.#load(lookup, slot, writable, readonly) && isComplete;
    if (isComplete) return { writable, readonly };
    this.unresolved++;
    return null;
  }

  close(): void {
    this.#loader.close();
  }

  #store(key: string, data: Uint8Array, slot: Slot, writeVersion: bigint): void {
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
      this.#loader.request(key);
      return false;
    }
    const { meta, addresses } = cached.table;
    const found = usableAddresses(meta, addresses.length / ADDRESS_BYTES, slot);
    if ('fault' in found) return false;
    const isComplete =
      addAddresses(writable, addresses, writableIndexes, found.usable) &&
      addAddresses(readonly, addresses, readonlyIndexes, found.usable);
    // The table may have been extended.
    if (!isComplete) this.#loader.request(key);
    return isComplete;
  }
}
