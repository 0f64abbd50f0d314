import { createHash } from 'node:crypto';
import type { BlockSelection } from '../../../protocol/geyser/encode/block.ts';
import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlocksFilter, DataSlice } from '../../../protocol/geyser/subscribe-request.ts';
import { type AddressSet, type Cuckoo, compileCuckoo, overlaps, setOrNull } from './address-set.ts';
import { slicesKey } from './data-slices.ts';

/** Selects parts of every block. */
export class BlockChoice {
  readonly name: string;
  /** Equal for equal selections, which share encoded blocks. */
  readonly key: string;
  readonly #include: AddressSet | null;
  readonly #cuckoo: Cuckoo | null;
  readonly #hasTransactions: boolean;
  readonly #hasAccounts: boolean;
  readonly #hasEntries: boolean;
  readonly #slices: readonly DataSlice[] | null;

  /** @throws InvalidFilter */
  constructor(name: string, filter: BlocksFilter, slices: readonly DataSlice[] | null) {
    this.name = name;
    this.#include = setOrNull(filter.accountInclude);
    this.#cuckoo = compileCuckoo(filter.cuckooAccountInclude);
    this.#hasTransactions = filter.includeTransactions ?? true;
    this.#hasAccounts = filter.includeAccounts ?? false;
    this.#hasEntries = filter.includeEntries ?? false;
    this.#slices = slices;
    this.key = this.#keyOf(filter);
  }

  of(block: RawBlock): BlockSelection {
    return {
      transactions: this.#hasTransactions
        ? this.#filterIncluded(block.transactions, (set, { keys }) => overlaps(set, keys))
        : [],
      accounts: this.#hasAccounts
        ? this.#filterIncluded(block.accounts, (set, { address }) => set.has(address, 0))
        : [],
      entries: this.#hasEntries ? block.entries : [],
      slices: this.#slices,
    };
  }

  #filterIncluded<T>(
    items: readonly T[],
    isIn: (set: AddressSet | Cuckoo, item: T) => boolean,
  ): readonly T[] {
    const include = this.#include;
    const cuckoo = this.#cuckoo;
    if (include === null && cuckoo === null) return items;
    return items.filter(
      (item) => (include !== null && isIn(include, item)) || (cuckoo !== null && isIn(cuckoo, item)),
    );
  }

  #keyOf({ cuckooAccountInclude: cuckoo }: BlocksFilter): string {
    const parts = [this.#hasTransactions, this.#hasAccounts, this.#hasEntries].map(Number).join('');
    const key = `${parts} ${this.#hasAccounts ? slicesKey(this.#slices) : ''}`;
    if (this.#include === null && cuckoo === undefined) return key;
    const digest = createHash('sha256');
    const addresses = (this.#include?.addresses ?? []).map((bytes) => Buffer.from(bytes).toString('hex'));
    for (const each of addresses.sort()) digest.update(each);
    if (cuckoo !== undefined) {
      const { bucketCount, entriesPerBucket, fingerprintBits, hashSeed, hashAlgorithm, data } = cuckoo;
      digest.update(`cuckoo ${[bucketCount, entriesPerBucket, fingerprintBits, hashSeed, hashAlgorithm]} `);
      digest.update(data);
    }
    return `${key} ${digest.digest('hex')}`;
  }
}
