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
