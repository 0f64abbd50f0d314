import {
  type AccountsDataFilter,
  encodeSubscribeRequest,
} from '../../../protocol/geyser/subscribe-request.ts';
import type { AccountFilter } from '../../../protocol/rpc/account-filter.ts';
import type { Address } from '../../../solana/address.ts';
import { RefCountedMap } from './ref-counted-map.ts';

const dataFilter = (filter: AccountFilter): AccountsDataFilter =>
  filter.kind === 'dataSize' ? { kind: 'dataSize', bytes: filter.size } : filter;

/** The key of no filters is ''. */
const keyOf = (filters: readonly AccountFilter[]): string =>
  filters
    .map((filter) => {
      if (filter.kind === 'dataSize') return `size ${filter.size}`;
      if (filter.kind === 'tokenAccountState') return filter.kind;
      return `memcmp ${filter.offset} ${Buffer.from(filter.bytes).toString('hex')}`;
    })
    .join(',');

type ProgramFiltersOptions = Readonly<{
  program: Address;
  /** Beyond so many different ones the whole program is asked for. */
  filtersMax: number;
  /** A name that no other filter of the request has. */
  nextName: () => string;
}>;

/** What is wanted of one program's accounts, as parts of a request. */
export class ProgramFilters {
  readonly #options: ProgramFiltersOptions;
  readonly #filters = new RefCountedMap<string, Uint8Array>();
  readonly #whole: Uint8Array;

  constructor(options: ProgramFiltersOptions) {
    this.#options = options;
    this.#whole = this.#encode([]);
  }

  /** Filters that a request may need for it, also after some of what is wanted has ended. */
  get count(): number {
    return Math.min(this.#filters.size, this.#options.filtersMax);
  }

  /** @returns what ends it; harmless when it is over. */
  add(filters: readonly AccountFilter[]): () => void {
    return this.#filters.add(keyOf(filters), () => this.#encode(filters));
  }

  /** Encoded parts of a request: one for each filter, or one for the program where all of it is needed. */
  parts(): Iterable<Uint8Array> {
    const isWhole = this.#filters.has('') || this.#filters.size > this.#options.filtersMax;
    return isWhole ? [this.#whole] : this.#filters.values();
  }

  #encode(filters: readonly AccountFilter[]): Uint8Array {
    const { program, nextName } = this.#options;
    const filter = { owner: [program], filters: filters.map(dataFilter) };
    return encodeSubscribeRequest({ accounts: new Map([[nextName(), filter]]) });
  }
}
