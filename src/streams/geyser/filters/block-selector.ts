import { createHash } from 'node:crypto';
import type { BlockSelection } from '../../../protocol/geyser/encode/block.ts';
import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlocksFilter, DataSlice } from '../../../protocol/geyser/subscribe-request.ts';
import { type AddressSet, type Cuckoo, compileCuckoo, overlaps, setOrNull } from './address-set.ts';
import { slicesKey } from './data-slices.ts';

/** Selects parts of every block. */
export class BlockSelector {
  readonly name: string;
  /** Filters with equal keys select the same parts and share one encoded block. */
  readonly key: string;
  readonly #include: AddressSet | null;
  readonly #cuckoo: Cuckoo | null;
  readonly #includesTransactions: boolean;
  readonly #includesAccounts: boolean;
  readonly #includesEntries: boolean;
  readonly #slices: readonly DataSlice[] | null;

  /** @throws InvalidFilter */
  constructor(name: string, filter: BlocksFilter, slices: readonly DataSlice[] | null) {
    this.name = name;
    this.#include = setOrNull(filter.accountInclude);
    this.#cuckoo = compileCuckoo(filter.cuckooAccountInclude);
    this.#includesTransactions = filter.includeTransactions ?? true;
    this.#includesAccounts = filter.includeAccounts ?? false;
    this.#includesEntries = filter.includeEntries ?? false;
    this.#slices = slices;
    this.key = this.#keyOf(filter);
  }

  select(block: RawBlock): BlockSelection {
    return {
      transactions: this.#includesTransactions
        ? this.#filterIncluded(block.transactions, (set, { keys }) => overlaps(set, keys))
        : [],
      accounts: this.#includesAccounts
        ? this.#filterIncluded(block.accounts, (set, { address }) => set.has(address, 0))
        : [],
      entries: this.#includesEntries ? block.entries : [],
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
    const parts = [this.#includesTransactions, this.#includesAccounts, this.#includesEntries]
      .map(Number)
      .join('');
    const key = `${parts} ${this.#includesAccounts ? slicesKey(this.#slices) : ''}`;
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
