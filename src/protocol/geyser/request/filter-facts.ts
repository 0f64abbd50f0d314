import type { FailureFacts } from '../../errors.ts';

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
