import { Failure, type FailureFacts } from '../../errors.ts';
import { GrpcError } from '../../grpc/status.ts';
import type { FieldCount } from '../protobuf.ts';

/**
 * What is wrong with the content of a request whose bytes are a message. It is told only when all of the bytes were
 * read, because bytes that are no message weigh more, and a request that is a ping has no content. Only that there is
 * too much of something is told at once.
 */
export class RequestFaults implements FieldCount {
  readonly #bounds: RequestBounds;
  readonly #fieldsMax: number;
  #first: Readonly<{ text: string; facts: FailureFacts }> | null = null;
  #fields = 0;
  #filters = 0;
  #dataFilters = 0;
  #pubkeys = 0;
  #slices = 0;

  constructor(bounds: RequestBounds) {
    this.#bounds = bounds;
    this.#fieldsMax = fieldsMaxOf(bounds);
  }

  /** Whether there is one: what follows need not be understood any more. */
  get some(): boolean {
    return this.#first !== null;
  }

  /**
   * @param text - the plugin's words.
   * @param field - of the filter or request, as geyser.proto calls it.
   * @param value - what it held, where that can be shown.
   */
  add(text: string, field: string, value?: string | number): void {
    if (this.#first !== null) return;
    const printable = typeof value === 'string' ? truncateText(value) : value;
    this.#first = { text, facts: { field, ...(printable === undefined ? {} : { value: printable }) } };
  }

  /** Says in which filter the first fault is. */
  locate(where: FailureFacts): void {
    if (this.#first !== null) this.#first = { ...this.#first, facts: { ...where, ...this.#first.facts } };
  }

  /** Counts a field. @throws Failure FILTER_LIMIT, as the others that count. */
  field(): void {
    this.#fields += 1;
    if (this.#fields > this.#fieldsMax) throw tooMany('fields', this.#fieldsMax);
  }

  filter(): void {
    this.#filters += 1;
    if (this.#filters > this.#bounds.filtersMax) throw tooMany('filters', this.#bounds.filtersMax);
  }

  dataFilter(): void {
    this.#dataFilters += 1;
    const max = this.#bounds.filtersMax * DATA_FILTERS_OF_A_FILTER;
    if (this.#dataFilters > max) throw tooMany('filters of account data', max);
  }

  pubkey(): void {
    this.#pubkeys += 1;
    if (this.#pubkeys > this.#bounds.pubkeysMax) throw tooMany('Pubkeys', this.#bounds.pubkeysMax);
  }

  slice(): void {
    this.#slices += 1;
    if (this.#slices > this.#bounds.slicesMax) throw tooMany('data slices', this.#bounds.slicesMax);
  }

  /** @throws GrpcError INVALID_ARGUMENT with the first fault, if there was one. */
  throwFirst(prefix: string): void {
    if (this.#first === null) return;
    const { text, facts } = this.#first;
    throw new GrpcError('INVALID_ARGUMENT', `${prefix}: ${text}`, facts);
  }
}

const tooMany = (of: string, max: number): Failure => new Failure('FILTER_LIMIT', { facts: { of, max } });

/** How much of a request is read at most. A request with more is refused where it goes beyond, not read to its end. */
export type RequestBounds = Readonly<{
  /** Filters of all kinds together. */
  filtersMax: number;
  /** Addresses in the lists of all filters together. */
  pubkeysMax: number;
  /** Parts of accounts' data. */
  slicesMax: number;
}>;

/** Where no plan says less. */
export const requestBounds: RequestBounds = { filtersMax: 10_000, pubkeysMax: 200_000, slicesMax: 1_000 };

/** More conditions on accounts' data of one filter are refused by every server there is (4). */
export const DATA_FILTERS_OF_A_FILTER = 8;
/** A filter has about 30 fields when it has all there are, addresses apart; a slice has 3. */
const FIELDS_OF_A_FILTER = 40;
const FIELDS_OF_A_SLICE = 3;
/** Fields besides, such as those of versions to come. */
const FIELDS_BESIDES = 1_000;

/** Fields that a request within these bounds may have, those of messages inside it included. */
export const fieldsMaxOf = ({ filtersMax, pubkeysMax, slicesMax }: RequestBounds): number =>
  FIELDS_BESIDES + FIELDS_OF_A_FILTER * filtersMax + pubkeysMax + FIELDS_OF_A_SLICE * slicesMax;

/** The field of a request that a filter stands in, as geyser.proto calls it. */
export type FilterKind =
  | 'accounts'
  | 'slots'
  | 'transactions'
  | 'transactions_status'
  | 'blocks'
  | 'blocks_meta'
  | 'entry'
  | 'deshred_transactions';

/** More of a client's words is not told back: trailers have to fit what it takes of headers. */
const TEXT_MAX_CHARS = 64;

/** A client's words, as facts of an error show them. */
export const truncateText = (text: string): string => text.slice(0, TEXT_MAX_CHARS).toWellFormed();

/** Facts that say which filter an error is about. */
export const filterFacts = (filter: FilterKind, name: string): FailureFacts => ({
  filter,
  name: truncateText(name),
});
