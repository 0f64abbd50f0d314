import { AsyncLocalStorage } from 'node:async_hooks';
import { sql, type Transaction } from 'kysely';
import type { AuditEntry } from './audit-entry.ts';
import { insertRow } from './rows.ts';
import type { Schema } from './schema.ts';
import { CHANGE_CHANNEL, type Store } from './store.ts';

/** Runs `work` in a transaction and notifies other gateways after the commit. */
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

/** Like `transactAndNotify`, but also passes the change number to `work`. */
export const makeChange = <Result>(
  store: Store,
  work: (trx: Transaction<Schema>, version: number) => Promise<Result>,
): Promise<Result> => transactAndNotify(store, async (trx) => work(trx, await nextVersion(trx)));

/** Runs `work` in a transaction without notifying gateways: for changes that do not affect keys, plans or customers. */
export const transact = <Result>(
  store: Store,
  work: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> => store.db.transaction().execute(work);

/** Throws if the caller's permission has been revoked. */
type PermissionCheck = (trx: Transaction<Schema>) => Promise<void>;

const checks = new AsyncLocalStorage<PermissionCheck>();
const checkedTransactions = new WeakSet<Transaction<Schema>>();

/**
 * Runs work that makes changes. Each change rechecks the caller's permission after locking the change counter, because
 * an earlier change may have revoked the permission.
 */
export const withPermissionRecheck = <Result>(
  check: PermissionCheck,
  work: () => Promise<Result>,
): Promise<Result> => checks.run(check, work);

/** Checks only once per transaction, so that a change may remove the caller's own rights. */
async function checkChange(trx: Transaction<Schema>): Promise<void> {
  const check = checks.getStore();
  if (check === undefined || checkedTransactions.has(trx)) return;
  checkedTransactions.add(trx);
  await check(trx);
}

/**
 * Takes the next number from the change counter. Call it first in a transaction: the row stays locked until the
 * commit, so changes become visible in order and a query for `version > last` misses none.
 */
export const nextVersion = (trx: Transaction<Schema>): Promise<number> => nextVersions(trx, 1);

/** Takes `count` numbers from the change counter and returns the first. */
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

/** Writes the audit entry of change number `version`, in the transaction of the change. */
export const writeAudit = (trx: Transaction<Schema>, version: number, entry: AuditEntry): Promise<void> =>
  writeAudits(trx, version, [entry]);

/** Writes the audit entries of consecutive changes, starting with change number `version`. */
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
    key_id: entry.keyId ?? null,
    detail: JSON.stringify(entry.detail),
    customer_id: entry.customerId ?? null,
    address: entry.address ?? null,
    user_agent: entry.userAgent ?? null,
    request_id: entry.requestId ?? null,
  }));
  await insertRow(trx, 'audit', rows);
}
