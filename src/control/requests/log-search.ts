import { type Expression, type ExpressionBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { findRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { firstIdAt } from './entry-ids.ts';
import type { LogFilter } from './log-store.ts';
import { searchOf, termsIn } from './log-terms.ts';

/** Entries to examine in the first step, and in all, so that the duration does not depend on the size of the log. */
const FIRST_STEP = 500;
const EXAMINED_MAX = 10_000;
/** Terms are counted up to this number, to find the rarest. */
const COUNT_MAX = 10_000;
/** No further step starts after this time, even if the search has not found a page of entries. */
const SEARCH_MS = 100;
/** Entries that are written during a step are examined too, up to this multiple of the step. */
const LATE_FACTOR = 2;
/** A step with fewer entries is not worth a query. */
const STEP_MIN = 100;

type Build = ExpressionBuilder<Schema, 'request_log'>;
type Condition = Expression<SqlBool>;

/** Ids from `from` up to, and without, `before`. */
type IdRange = Readonly<{ from: string; before: string }>;
const noIds: IdRange = { from: '', before: '' };

/**
 * A search of the log. It reads the index that promises the fewest entries, newest first: that of the rarest `term`, else
 * that of the key, of the method (and status), of the failed entries, or of all entries.
 */
export type LogSearch = Readonly<{
  store: Store;
  customerId: string;
  filter: LogFilter;
  ids: IdRange;
  term: string | null;
  otherTerms: readonly string[];
  /** Entries to examine. */
  step: number;
}>;

/** Ids sort by time, and in the same way in JavaScript and in the databases. */
function idsOf({ from, to }: LogFilter, requestId: string | null, before: string | null): IdRange {
  const starts = [firstIdAt(from), requestId ?? ''].sort();
  const ends = [
    firstIdAt(to),
    ...(requestId === null ? [] : [`${requestId}0`]),
    ...(before === null ? [] : [before]),
  ].sort();
  return { from: starts.at(-1) ?? '', before: ends[0] ?? '' };
}

const termRows = (
  { store, customerId, ids }: Pick<LogSearch, 'store' | 'customerId' | 'ids'>,
  term: string,
) =>
  store.db
    .selectFrom('request_term')
    .where('request_term.customer_id', '=', customerId)
    .where('request_term.term', '=', term)
    .where('request_term.id', '>=', ids.from)
    .where('request_term.id', '<', ids.before);

async function countTerm(search: Parameters<typeof termRows>[0], term: string): Promise<number> {
  const { count } = await search.store.db
    .selectFrom(termRows(search, term).select('request_term.id').limit(COUNT_MAX).as('some'))
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Of the entries of another customer's key, not even the ids, which a cursor contains, may be returned. */
async function isForeignKey({ db }: Store, customerId: string, key: string): Promise<boolean> {
  const row = await findRow(db, 'api_key', { id: key });
  return row !== undefined && row.customer_id !== customerId;
}

/** @param before - last id of the previous page. */
export async function createSearch(
  store: Store,
  customerId: string,
  filter: LogFilter,
  before: string | null,
): Promise<LogSearch> {
  const { requestId, terms } = searchOf(filter.search);
  if (requestId === null) terms.push(...termsIn(filter.code ?? ''));
  const isForeign = filter.key !== undefined && (await isForeignKey(store, customerId, filter.key));
  const ids = isForeign ? noIds : idsOf(filter, requestId, before);
  const all = { store, customerId, filter, ids };
  const counted = await Promise.all(
    terms.map(async (term) => {
      const count = terms.length === 1 ? 0 : await countTerm(all, term);
      return { term, count };
    }),
  );
  const [term = null, ...otherTerms] = counted.sort((a, b) => a.count - b.count).map((one) => one.term);
  return { ...all, term, otherTerms, step: FIRST_STEP };
}

/** The ids to examine, newest first, read from a single index. */
function indexedIds(search: LogSearch): SelectQueryBuilder<Schema, never, { id: string }> {
  const { store, customerId, filter, ids, term } = search;
  const { key, method, status } = filter;
  if (term !== null)
    return termRows(search, term).select('request_term.id').orderBy('request_term.id', 'desc');
  const all = store.db
    .selectFrom('request_log')
    .select('request_log.id')
    .where('request_log.id', '>=', ids.from)
    .where('request_log.id', '<', ids.before)
    .orderBy('request_log.id', 'desc');
  const own = all.where('request_log.customer_id', '=', customerId);
  // By key alone: PostgreSQL would underestimate the entries of this customer and key, and sort them all.
  if (key !== undefined) return all.where('request_log.key_id', '=', key);
  if (method !== undefined && (status === undefined || status === 'ok'))
    return own.where('request_log.method', '=', method);
  // Worded like the condition of the index.
  if (status === undefined || status === 'ok') return own;
  const failed = own.where(sql<boolean>`request_log.status <> 'ok'`);
  return method === undefined
    ? failed
    : failed.where('request_log.method', '=', method).where('request_log.status', '=', status);
}

function codeCondition(build: Build, code: string): Condition {
  const isFailure = build('request_log.failure', '=', code);
  const number = Number(code);
  return Number.isSafeInteger(number)
    ? build.or([isFailure, build('request_log.rpc_code', '=', number)])
    : isFailure;
}

function conditionsOf({ customerId, filter, otherTerms }: LogSearch, build: Build): Condition[] {
  const { key, keys, method, product, status, code, rpcCode, minMs, address } = filter;
  return [
    build('request_log.customer_id', '=', customerId),
    ...(key === undefined ? [] : [build('request_log.key_id', '=', key)]),
    ...(keys === undefined ? [] : [build('request_log.key_id', 'in', keys)]),
    ...(method === undefined ? [] : [build('request_log.method', '=', method)]),
    ...(product === undefined ? [] : [build('request_log.product', '=', product)]),
    ...(status === undefined ? [] : [build('request_log.status', '=', status)]),
    ...(code === undefined ? [] : [codeCondition(build, code)]),
    ...(rpcCode === undefined ? [] : [build('request_log.rpc_code', '=', rpcCode)]),
    ...(minMs === undefined ? [] : [build('request_log.micros', '>=', Math.round(minMs * 1_000))]),
    ...(address === undefined ? [] : [build('request_log.address', '=', address)]),
    ...otherTerms.map((term) =>
      build.exists(
        build
          .selectFrom('request_term as other')
          .select('other.id')
          .where('other.customer_id', '=', customerId)
          .where('other.term', '=', term)
          .whereRef('other.id', '=', 'request_log.id'),
      ),
    ),
  ];
}

type LogEntries = SelectQueryBuilder<Schema & { found: { id: string } }, 'request_log' | 'found', object>;

/**
 * Joins the first ids with their entries, so that the ids are read first, in order, and only as far as needed.
 * SQLite keeps the order of a cross join. PostgreSQL would rather read the whole log than many single entries.
 */
function examined(search: LogSearch): LogEntries {
  const { db, dialect } = search.store;
  const found = db.selectFrom(
    indexedIds(search)
      .limit(LATE_FACTOR * search.step)
      .as('found'),
  );
  const joined =
    dialect === 'sqlite'
      ? found.crossJoin('request_log').whereRef('request_log.id', '=', 'found.id')
      : found.innerJoinLateral(
          (build) =>
            build
              .selectFrom('request_log')
              .selectAll()
              .whereRef('request_log.id', '=', 'found.id')
              .limit(1)
              .as('request_log'),
          (join) => join.onTrue(),
        );
  return joined as unknown as LogEntries;
}

/** The entries of the search among the ids that it examines. */
export const entriesOf = (search: LogSearch): LogEntries =>
  examined(search).where((build) => build.and(conditionsOf(search, build as unknown as Build)));

/** The last id of a step, before which the search continues; null: the step is the last. */
async function stepEnd(search: LogSearch): Promise<string | null> {
  const last = await indexedIds(search)
    .offset(search.step - 1)
    .limit(1)
    .executeTakeFirst();
  return last?.id ?? null;
}

/**
 * Searches step by step, newest first, until `read` has enough or the time is up.
 * @param read - reads the entries of a part; returns whether it has enough.
 * @returns the id before which the search continues; null: the search is complete, or `read` has enough.
 */
export async function searchSteps(
  search: LogSearch,
  read: (part: LogSearch) => Promise<boolean>,
): Promise<string | null> {
  const startedAt = performance.now();
  let part = search;
  for (let examined = part.step; ; examined += part.step) {
    // Found first, because entries written since would move it, so that the next step would repeat some.
    const end = await stepEnd(part);
    if (await read(end === null ? part : { ...part, ids: { ...part.ids, from: end } })) return null;
    if (end === null) return null;
    const elapsed = performance.now() - startedAt;
    // The next step is unlikely to exceed the time that remains.
    const affordable = Math.floor((examined / elapsed) * (SEARCH_MS - elapsed));
    const step = Math.min(2 * part.step, affordable, EXAMINED_MAX - examined);
    if (step < STEP_MIN) return end;
    part = { ...part, step, ids: { ...part.ids, before: end } };
  }
}
