import { sql, type Transaction } from 'kysely';
import type { KeyTable, Schema } from '../database/schema.ts';
import { nextVersions, transactAndNotify, writeAudits } from '../database/transaction.ts';
import { auditEntry, beforeAndAfter, KeyRefusedError, type KeyRegister } from './key-register.ts';
import { type KeyView, viewKey } from './key-view.ts';

/** Keys that may be revoked at once. */
export const REVOKE_BATCH_MAX = 1_000;
/** Keys in one statement: each is a handful of parameters, of which PostgreSQL takes 65,535. */
const BATCH_KEYS = 200;

/** The rows, in the order of the ids. @throws KeyRefusedError not-found */
async function requireKeys(
  trx: Transaction<Schema>,
  ids: readonly string[],
  { customerId }: KeyRegister,
): Promise<KeyTable[]> {
  const rows = await trx
    .selectFrom('api_key')
    .selectAll()
    .where('id', 'in', ids)
    .$if(customerId !== undefined, (query) => query.where('customer_id', '=', customerId!))
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    if (row !== undefined) return row;
    throw new KeyRefusedError(
      'not-found',
      `there is no key ${JSON.stringify(id.slice(0, 16))}: see the list of keys for the ids`,
      'ids',
    );
  });
}

async function revokeBatch(
  trx: Transaction<Schema>,
  register: KeyRegister,
  rows: readonly KeyTable[],
): Promise<KeyTable[]> {
  const first = await nextVersions(trx, rows.length);
  const cases = rows.map(({ id }, index) => sql`when ${id} then cast(${first + index} as bigint)`);
  await trx
    .updateTable('api_key')
    .set({ state: 'revoked', version: sql<number>`case id ${sql.join(cases, sql` `)} end` })
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute();
  const after = { state: 'revoked' } as const;
  const entries = rows.map((row) =>
    auditEntry(register, 'key.revoke', row, beforeAndAfter({ state: row.state }, after)),
  );
  await writeAudits(trx, first, entries);
  return rows.map((row, index) => ({ ...row, ...after, version: first + index }));
}

/**
 * Ends several keys for ever, all or none. Those that are revoked already stay as they are.
 * @param ids - 1 to 1000.
 * @returns the keys in the order of the ids, each once.
 * @throws KeyRefusedError
 */
export function revokeKeys(register: KeyRegister, ids: readonly string[]): Promise<KeyView[]> {
  return transactAndNotify(register.store, async (trx) => {
    // Holds the counter's row before anything is read.
    await nextVersions(trx, 0);
    const uniqueIds = [...new Set(ids)].slice(0, REVOKE_BATCH_MAX);
    const rows = await requireKeys(trx, uniqueIds, register);
    const living = rows.filter(({ state }) => state !== 'revoked');
    const revoked = new Map<string, KeyTable>();
    for (let from = 0; from < living.length; from += BATCH_KEYS) {
      const batch = await revokeBatch(trx, register, living.slice(from, from + BATCH_KEYS));
      for (const row of batch) revoked.set(row.id, row);
    }
    return rows.map((row) => viewKey(revoked.get(row.id) ?? row, register.now()));
  });
}
