import { Failure, type FailureFacts } from '../../errors.ts';
import { GrpcError } from '../../grpc/status.ts';
import type { FieldCount } from '../protobuf.ts';

/**
 * Collects the first content error. It is thrown after decoding, because invalid protobuf takes precedence and a
 * ping has no content. Exceeded bounds throw at once.
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

  /** If so, later content need not be parsed. */
  get hasFault(): boolean {
    return this.#first !== null;
  }

  /** @param field - name in geyser.proto. */
  add(text: string, field: string, value?: string | number): void {
    if (this.#first !== null) return;
    const printable = typeof value === 'string' ? truncateText(value) : value;
    this.#first = { text, facts: { field, ...(printable === undefined ? {} : { value: printable }) } };
  }

  locate(where: FailureFacts): void {
    if (this.#first !== null) this.#first = { ...this.#first, facts: { ...where, ...this.#first.facts } };
  }

  /** Counts a field. @throws Failure FILTER_LIMIT, as all counters do. */
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
    const max = this.#bounds.filtersMax * DATA_FILTERS_PER_FILTER_MAX;
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

  /** @throws GrpcError INVALID_ARGUMENT with the first error, if any. */
  throwFirst(prefix: string): void {
    if (this.#first === null) return;
    const { text, facts } = this.#first;
    throw new GrpcError('INVALID_ARGUMENT', `${prefix}: ${text}`, facts);
  }
}

const tooMany = (of: string, max: number): Failure => new Failure('FILTER_LIMIT', { facts: { of, max } });

export type RequestBounds = Readonly<{
  filtersMax: number;
  pubkeysMax: number;
  slicesMax: number;
}>;

export const requestBounds: RequestBounds = { filtersMax: 10_000, pubkeysMax: 200_000, slicesMax: 1_000 };

/** Known servers allow 4. */
export const DATA_FILTERS_PER_FILTER_MAX = 8;
/** A complete filter has about 30 fields besides addresses; a slice has 3. */
const FIELDS_OF_A_FILTER = 40;
const FIELDS_OF_A_SLICE = 3;
/** Such as those of future versions. */
const FIELDS_BESIDES = 1_000;

export const fieldsMaxOf = ({ filtersMax, pubkeysMax, slicesMax }: RequestBounds): number =>
  FIELDS_BESIDES + FIELDS_OF_A_FILTER * filtersMax + pubkeysMax + FIELDS_OF_A_SLICE * slicesMax;

/** Named as in geyser.proto. */
export type FilterKind =
  | 'accounts'
  | 'slots'
  | 'transactions'
  | 'transactions_status'
  | 'blocks'
  | 'blocks_meta'
  | 'entry'
  | 'deshred_transactions';

/** Trailers must fit into the client's header limit. */
const TEXT_MAX_CHARS = 64;

export const truncateText = (text: string): string => text.slice(0, TEXT_MAX_CHARS).toWellFormed();

export const filterFacts = (filter: FilterKind, name: string): FailureFacts => ({
  filter,
  name: truncateText(name),
});
