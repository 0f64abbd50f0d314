import type { Transaction } from 'kysely';
import type { AuditEntry } from '../../database/audit-entry.ts';
import { fieldsOf, namesOf, pagesOf, selectRows } from '../../database/rows.ts';
import type { AuditTable, Schema } from '../../database/schema.ts';
import type { Store } from '../../database/store.ts';
import { makeChange, writeAudit } from '../../database/transaction.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import { decodeCursor, pageOfRows } from '../cursor.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';

type AuditedChange = Pick<AuditEntry, 'action' | 'keyId' | 'detail'> &
  Readonly<{ customerId: string | null }>;

/**
 * Makes a change and writes its audit entry in one transaction. Data that `work` reads cannot change until the commit.
 * @param work - returns null as the second item if there is nothing to audit.
 */
export function withAudit<Result>(
  { store, now }: Pick<ApiServices, 'store' | 'now'>,
  { actor, address, userAgent, requestId }: ApiContext,
  work: (trx: Transaction<Schema>, version: number) => Promise<readonly [Result, AuditedChange | null]>,
): Promise<Result> {
  return makeChange(store, async (trx, version) => {
    const [result, change] = await work(trx, version);
    if (change !== null) {
      await writeAudit(trx, version, { at: now(), actor, ...change, address, userAgent, requestId });
    }
    return result;
  });
}

const PAGE_ROWS = 500;

type Query = ParsedRouteInput<'GET /customers/{customer}/audit'>['query'];
type Filter = Omit<Query, 'cursor' | 'limit'> & Readonly<{ customer?: string | undefined }>;

const lineOf = (row: AuditTable) => ({
  ...fieldsOf(row, 'id', 'at', 'actor', 'action', 'key_id', 'address', 'user_agent', 'request_id'),
  detail: JSON.parse(row.detail) as Record<string, string | number | boolean | null>,
});

const lineWithCustomerOf = (row: AuditTable) => ({ ...lineOf(row), customerId: row.customer_id });

/** Each gateway has its own clock, so the times of entries may be out of order by this much. */
const CLOCK_SKEW_MS = 3_600_000;
/** A range of fewer ids is not worth another query. */
const ID_RANGE_MIN = 1_000;

/**
 * Finds an id before which all entries are older than a time: ids follow the order of changes.
 * @returns that id, and an id from which on all entries are newer.
 */
async function idsAround({ db }: Store, atMs: number): Promise<Readonly<{ older: number; newer: number }>> {
  const last = await db.selectFrom('audit').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  let [older, newer] = [0, (last?.id ?? 0) + 1];
  while (newer - older > ID_RANGE_MIN) {
    const middle = Math.floor((older + newer) / 2);
    const next = await db
      .selectFrom('audit')
      .select('at')
      .where('id', '>=', middle)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (next !== undefined && next.at < atMs) older = middle;
    else newer = middle;
  }
  return { older, newer };
}

type IdRange = Readonly<{ first: number; end: number }>;

/** A range of ids that contains all entries of the time range of a filter. */
const idRangeOf = async ({ store }: ApiServices, { from, to }: Filter): Promise<IdRange> => ({
  first: from === undefined ? 0 : (await idsAround(store, from - CLOCK_SKEW_MS)).older,
  end: to === undefined ? Number.MAX_SAFE_INTEGER : (await idsAround(store, to + CLOCK_SKEW_MS)).newer,
});

const select = (
  { store }: ApiServices,
  { customer, action, actor, key, from, to }: Filter,
  { first, end }: IdRange,
) =>
  selectRows(store.db, 'audit', { customer_id: customer, action, actor, key_id: key })
    .where('id', '>=', first)
    .where('id', '<', end)
    .$if(from !== undefined, (query) => query.where('at', '>=', from ?? 0))
    .$if(to !== undefined, (query) => query.where('at', '<', to ?? 0));

async function page(services: ApiServices, filter: Filter, { cursor, limit }: Query) {
  const before = decodeCursor(cursor, 'number');
  const rows = await select(services, filter, await idRangeOf(services, filter))
    .$if(before !== null, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const { db } = services.store;
  const keys = await namesOf(
    db,
    'api_key',
    rows.map(({ key_id }) => key_id),
  );
  const customers = await namesOf(
    db,
    'customer',
    rows.map(({ customer_id }) => customer_id),
  );
  return pageOfRows(rows, limit, (row) => ({
    ...lineWithCustomerOf(row),
    keyName: keys.get(row.key_id) ?? null,
    customerName: customers.get(row.customer_id) ?? null,
  }));
}

/** Yields one page at a time, so that an export of any size needs little memory. */
async function* lines(
  services: ApiServices,
  filter: Filter,
  show: (row: AuditTable) => unknown,
  { signal }: ApiContext,
): AsyncGenerator<string> {
  const range = await idRangeOf(services, filter);
  const query = select(services, filter, range).orderBy('id').limit(PAGE_ROWS);
  const pages = pagesOf<AuditTable>(PAGE_ROWS, async (last) =>
    signal.aborted ? [] : query.where('id', '>', last?.id ?? -1).execute(),
  );
  for await (const rows of pages) yield rows.map((row) => JSON.stringify(show(row))).join('\n');
}

export const auditHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /customers/{customer}/audit': ({ path, query }) =>
      page(services, { ...query, customer: path.customer }, query),
    'GET /customers/{customer}/audit.jsonl': async ({ path, query }, context) =>
      lines(services, { ...query, customer: path.customer }, lineOf, context),
    'GET /audit': ({ query }) => page(services, query, query),
    'GET /audit.jsonl': async ({ query }, context) => lines(services, query, lineWithCustomerOf, context),
  });
