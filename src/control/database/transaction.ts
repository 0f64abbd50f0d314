import { AsyncLocalStorage } from 'node:async_hooks';
import { sql, type Transaction } from 'kysely';
import type { Store } from './open.ts';
import type { Schema } from './schema.ts';
import { CHANGE_CHANNEL } from './store-watch.ts';

/** Who did something and what, for the audit log. `detail` never holds a secret. */
export type AuditEntry = Readonly<{
  at: number;
  actor: string;
  action: string;
  keyId: string | null;
  customerId?: string | null;
  /** From where, for what came over the network. */
  address?: string | null;
  userAgent?: string | null;
  requestId?: string | null;
  detail: Readonly<Record<string, string | number | boolean | null>>;
}>;

/** Does `work` in one transaction and tells listeners of it once it is committed. */
export async function transactAndNotify<Result>(
  store: Store,
  work: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return transact(store, async (trx) => {
    const result = await work(trx);
    if (store.dialect === 'postgres') await sql`select pg_notify(${CHANGE_CHANNEL}, '')`.execute(trx);
    return result;
  });
}

/** The same for what changes no key, plan or customer, so that no gateway need look for keys that did. */
export const transact = <Result>(
  store: Store,
  work: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> => store.db.transaction().execute(work);

/** Looks at whether a change may still be made, when nobody else can change anything any more. Throws what speaks against it. */
export type ChangeCheck = (trx: Transaction<Schema>) => Promise<void>;

const checks = new AsyncLocalStorage<ChangeCheck>();
const checkedTransactions = new WeakSet<Transaction<Schema>>();

/**
 * Does work whose changes are looked at once more, each when it has its number: what was known of its maker before may
 * have been changed by whoever had the counter first.
 */
export const withChangeCheck = <Result>(check: ChangeCheck, work: () => Promise<Result>): Promise<Result> =>
  checks.run(check, work);

/** Once for each transaction: what a change does itself, such as taking a right away, is not held against it. */
async function checkChange(trx: Transaction<Schema>): Promise<void> {
  const check = checks.getStore();
  if (check === undefined || checkedTransactions.has(trx)) return;
  checkedTransactions.add(trx);
  await check(trx);
}

/**
 * The next number of the change counter. Call it first in a transaction: it holds the counter's row until the
 * commit, so changes become visible in the order of their numbers and `version > last` misses none.
 */
export const nextVersion = (trx: Transaction<Schema>): Promise<number> => nextVersions(trx, 1);

/** Takes several numbers at once, as `nextVersion` takes one. @returns the first of them. */
export async function nextVersions(trx: Transaction<Schema>, count: number): Promise<number> {
  const row = await trx
    .updateTable('change_counter')
    .set((update) => ({ version: update('version', '+', count) }))
    .where('id', '=', 1)
    .returning('version')
    .executeTakeFirstOrThrow();
  await checkChange(trx);
  return row.version - count + 1;
}

/** Writes the audit line of the change that took `version`, in the change's own transaction. */
export function writeAudit(trx: Transaction<Schema>, version: number, entry: AuditEntry): Promise<void> {
  return writeAudits(trx, version, [entry]);
}

/** Writes the audit lines of several changes, of which the first took `version` and the others those behind it. */
export async function writeAudits(
  trx: Transaction<Schema>,
  version: number,
  entries: readonly AuditEntry[],
): Promise<void> {
  const rows = entries.map((entry, index) => ({
    id: version + index,
    at: entry.at,
    actor: entry.actor,
    action: entry.action,
    key_id: entry.keyId,
    detail: JSON.stringify(entry.detail),
    customer_id: entry.customerId ?? null,
    address: entry.address ?? null,
    user_agent: entry.userAgent ?? null,
    request_id: entry.requestId ?? null,
  }));
  await trx.insertInto('audit').values(rows).execute();
}
