import { Lru } from '../../base/cache/lru.ts';
import { type JsonValue, parseJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { addressFromBytes } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { ShredLimits } from './shred-limits.ts';

type TableLoaderOptions = Readonly<{
  reader: Pick<ChainReader, 'request'>;
  limits: Pick<ShredLimits, 'tablesWaitingMax' | 'tablesGatherMs' | 'tableReadsMax' | 'tableAbsentMs'>;
  log: Logger;
  /** @param data - of the account, as it was at `slot`; nobody else has it. */
  onTable: (key: string, data: Uint8Array, slot: Slot) => void;
}>;

/** Addresses that one getMultipleAccounts takes. Source: Agave, `MAX_MULTIPLE_ACCOUNTS`. */
const ADDRESSES_MAX = 100;

type LoadedTables = Readonly<{ slot: Slot; accounts: readonly (Uint8Array | null)[] }>;

/** The data of an account of the lookup table program; null for any other, or none. */
function dataOf(value: JsonValue): Uint8Array | null {
  const { owner, data } = (value ?? {}) as { owner?: JsonValue; data?: JsonValue };
  if (owner !== programs.addressLookupTable || !Array.isArray(data) || typeof data[0] !== 'string')
    return null;
  // Small results of `Buffer.from` share memory with others.
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

/**
 * Asks the nodes for lookup tables that nobody has told of: those that are wanted at nearly the same time together,
 * each once. A table is asked for again only after a while, whatever came of it.
 */
export class TableLoader {
  readonly #options: TableLoaderOptions;
  /** By the 32 bytes of its address in latin1. */
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

  /** Sees to it that a table is read, at some time. */
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
      void this.#read(this.#take());
    }
  }

  #take(): string[] {
    const keys: string[] = [];
    for (const key of this.#waiting) {
      if (keys.length === ADDRESSES_MAX) break;
      keys.push(key);
    }
    const until = performance.now() + this.#options.limits.tableAbsentMs;
    for (const key of keys) {
      this.#waiting.delete(key);
      this.#notBefore.set(key, until);
    }
    return keys;
  }

  async #read(keys: readonly string[]): Promise<void> {
    this.#inFlight++;
    try {
      const loaded = await this.#fetch(keys);
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

  async #fetch(keys: readonly string[]): Promise<LoadedTables> {
    const addresses = keys.map((key) => addressFromBytes(Buffer.from(key, 'latin1')));
    const config = { encoding: 'base64', commitment: 'processed' };
    const { reader } = this.#options;
    const body = await reader.request('getMultipleAccounts', [addresses, config], this.#abort.signal);
    const loaded = readResponse(body.toString('latin1'), keys.length);
    if (loaded === null) throw new TypeError('getMultipleAccounts was answered with something else');
    return loaded;
  }

  #logFailure(error: unknown): void {
    if (this.#abort.signal.aborted || this.#isFailing) return;
    this.#isFailing = true;
    const reason = error instanceof Error ? error.message : 'unknown';
    this.#options.log.warn({ reason }, 'lookup tables cannot be read: addresses from them are not told');
  }
}
