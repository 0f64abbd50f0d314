import type { Insertable } from 'kysely';
import type { RequestLogTable, RequestTermTable } from '../database/tables/requests.ts';

/** The part of a log entry that can be searched. */
type SearchedRow = Pick<
  Insertable<RequestLogTable>,
  'id' | 'customer_id' | 'rpc_code' | 'failure' | 'message' | 'signature'
>;

const TERMS_MAX = 24;
const TERM_MAX_CHARS = 88;

/** Words, numbers, codes with their sign, and names such as `RATE_LIMITED`. */
const TERM = /(?<![\p{L}\p{N}_])-\d+(?![\p{L}\p{N}_])|[\p{L}\p{N}_]+/gu;

/**
 * Splits text into terms: lower-case words and numbers. Entries of the log are found by their terms, so a change here
 * needs a migration that rebuilds the table `request_term`.
 */
export const termsIn = (text: string, max = TERMS_MAX): string[] => {
  const terms = text.toLowerCase().match(TERM) ?? [];
  return [...new Set(terms.map((term) => term.slice(0, TERM_MAX_CHARS)))].slice(0, max);
};

/** Rows of `request_term` for a log entry: its codes, its signature and the words of its message. */
export function termRows(row: SearchedRow): RequestTermTable[] {
  const { id, customer_id, rpc_code: code, failure, message, signature } = row;
  const text = [failure, code === 0 ? null : code, signature, message]
    .filter((part) => part != null)
    .join(' ');
  return termsIn(text).map((term) => ({ customer_id, term, id }));
}
