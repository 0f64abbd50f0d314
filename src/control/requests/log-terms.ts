import type { Insertable } from 'kysely';
import type { RequestLogTable, RequestTermTable } from '../database/tables/requests.ts';
import { isEntryId } from './entry-ids.ts';

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
  // ClickHouse rejects half of a character.
  return [...new Set(terms.map((term) => term.slice(0, TERM_MAX_CHARS).toWellFormed()))].slice(0, max);
};

/** Terms of a log entry: its codes, its signature and the words of its message. */
export function termsOf({ rpc_code: code, failure, message, signature }: SearchedRow): string[] {
  const text = [failure, code === 0 ? null : code, signature, message]
    .filter((part) => part != null)
    .join(' ');
  return termsIn(text);
}

/** Rows of `request_term` for a log entry. */
export const termRows = (row: SearchedRow): RequestTermTable[] =>
  termsOf(row).map((term) => ({ customer_id: row.customer_id, term, id: row.id }));

/** Terms of a search; further terms are ignored. */
const SEARCH_TERMS_MAX = 8;

/** Parses a search text: it is the id of an entry, or terms that an entry must have. */
export function searchOf(search = ''): Readonly<{ requestId: string | null; terms: string[] }> {
  const text = search.trim();
  if (isEntryId(text)) return { requestId: text, terms: [] };
  const terms = termsIn(text, SEARCH_TERMS_MAX);
  // Text without words, such as "???", is in no entry.
  return { requestId: null, terms: terms.length === 0 && text !== '' ? [text] : terms };
}
