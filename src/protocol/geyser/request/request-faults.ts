import { Failure, type FailureFacts } from '../../errors.ts';
import { GrpcError } from '../../grpc/status.ts';
import type { FieldCount } from '../protobuf.ts';

/**
 * Records the first error in a request's content. It is thrown after decoding: invalid protobuf takes precedence, and
 * errors in a request with a ping are ignored. Exceeding a bound throws immediately.
 */
export class RequestFaults implements FieldCount {
  readonly #fieldsMax: number;
  readonly #max: Readonly<Record<Counted, number>>;
  #fields = 0;
  readonly #counts: Record<Counted, number> = {
    filters: 0,
    'filters of account data': 0,
    Pubkeys: 0,
    'data slices': 0,
  };
  #first: Readonly<{ text: string; facts: FailureFacts }> | null = null;

  constructor({ filtersMax, pubkeysMax, slicesMax }: RequestBounds) {
    this.#fieldsMax =
      OTHER_FIELDS_MAX + FIELDS_OF_A_FILTER * filtersMax + pubkeysMax + FIELDS_OF_A_SLICE * slicesMax;
    this.#max = {
      filters: filtersMax,
      'filters of account data': filtersMax * DATA_FILTERS_PER_FILTER_MAX,
      Pubkeys: pubkeysMax,
      'data slices': slicesMax,
    };
  }

  /** If true, later content need not be parsed. */
  get hasFault(): boolean {
    return this.#first !== null;
  }

  /** @param field - field name in geyser.proto. */
  add(text: string, field: string, value?: string | number): void {
    if (this.#first !== null) return;
    const printable = typeof value === 'string' ? truncateText(value) : value;
    this.#first = { text, facts: { field, ...(printable === undefined ? {} : { value: printable }) } };
  }

  locate(where: FailureFacts): void {
    if (this.#first !== null) this.#first = { ...this.#first, facts: { ...where, ...this.#first.facts } };
  }

  /** @throws Failure FILTER_LIMIT */
  count(of: Counted): void {
    this.#counts[of] += 1;
    const max = this.#max[of];
    if (this.#counts[of] > max) throw new Failure('FILTER_LIMIT', { facts: { of, max } });
  }

  /** Called for every field of a request. */
  field(): void {
    if (++this.#fields > this.#fieldsMax)
      throw new Failure('FILTER_LIMIT', { facts: { of: 'fields', max: this.#fieldsMax } });
  }

  /** @throws GrpcError INVALID_ARGUMENT with the first error, if any. */
  throwFirst(prefix: string): void {
    if (this.#first === null) return;
    const { text, facts } = this.#first;
    throw new GrpcError('INVALID_ARGUMENT', `${prefix}: ${text}`, facts);
  }
}

/** Kinds of limited items, named as in error messages. */
type Counted = 'filters' | 'filters of account data' | 'Pubkeys' | 'data slices';

export type RequestBounds = Readonly<{ filtersMax: number; pubkeysMax: number; slicesMax: number }>;

export const requestBounds: RequestBounds = { filtersMax: 10_000, pubkeysMax: 200_000, slicesMax: 1_000 };

/** Known servers allow 4. */
const DATA_FILTERS_PER_FILTER_MAX = 8;
/** A complete filter has about 30 fields besides addresses; a slice has 3. */
const FIELDS_OF_A_FILTER = 40;
const FIELDS_OF_A_SLICE = 3;
/** Allowance for other fields, such as those of future versions. */
const OTHER_FIELDS_MAX = 1_000;

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

/** Limits client text in errors: trailers must fit into the client's header limit. */
const TEXT_MAX_CHARS = 64;

const truncateText = (text: string): string => text.slice(0, TEXT_MAX_CHARS).toWellFormed();

export const filterFacts = (filter: FilterKind, name: string): FailureFacts => ({
  filter,
  name: truncateText(name),
});
