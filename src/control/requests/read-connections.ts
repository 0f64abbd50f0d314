import type { ConnectionJson } from '../api/contract/logs.ts';
import type { Store } from '../database/open.ts';
import { nextVersion, transactAndNotify, writeAudit } from '../database/transaction.ts';
import type { CordonActor } from './node-cordons.ts';

/** Rows of one answer. */
const ROWS_MAX = 1_000;
const HOUR_MINUTES = 60;

/** Open connections of a customer in all gateways. @param keyId - of one key only. */
export async function readConnections(
  { db }: Store,
  customerId: string,
  keyId: string | undefined,
): Promise<ConnectionJson[]> {
  let query = db
    .selectFrom('connection')
    .leftJoin('api_key', 'api_key.id', 'connection.key_id')
    .selectAll('connection')
    .select('api_key.name as key_name')
    .where('connection.customer_id', '=', customerId);
  if (keyId !== undefined) query = query.where('connection.key_id', '=', keyId);
  const rows = await query.orderBy('connection.id').limit(ROWS_MAX).execute();
  return rows.map(({ id, kind, gateway, key_id, key_name, facts }) => ({
    ...(JSON.parse(facts) as Omit<ConnectionJson, 'id' | 'kind' | 'gateway' | 'keyId' | 'keyName'>),
    id,
    kind,
    gateway,
    keyId: key_id,
    keyName: key_name,
  }));
}

/** How many connections of a customer were cut in the last hour because they lagged. @param nowMs - Unix milliseconds. */
export async function laggedLastHour({ db }: Store, customerId: string, nowMs: number): Promise<number> {
  const row = await db
    .selectFrom('lagged_minute')
    .select((select) => select.fn.sum<number | null>('connections').as('connections'))
    .where('customer_id', '=', customerId)
    .where('minute', '>', Math.floor(nowMs / 60_000) - HOUR_MINUTES)
    .executeTakeFirst();
  return Number(row?.connections ?? 0);
}

/**
 * Asks the gateway that has a connection of the customer to close it.
 * @returns whether there is such a connection.
 */
export async function requestClose(
  store: Store,
  customerId: string,
  connectionId: string,
  act: CordonActor,
  nowMs: number,
): Promise<boolean> {
  const row = await store.db
    .selectFrom('connection')
    .select(['gateway', 'key_id', 'kind'])
    .where('id', '=', connectionId)
    .where('customer_id', '=', customerId)
    .executeTakeFirst();
  if (row === undefined) return false;
  await transactAndNotify(store, async (trx) => {
    const version = await nextVersion(trx);
    await trx
      .insertInto('connection_close')
      .values({ connection_id: connectionId, gateway: row.gateway, asked_at: nowMs })
      .onConflict((conflict) => conflict.column('connection_id').doNothing())
      .execute();
    const about = { customerId, keyId: row.key_id, at: nowMs };
    const detail = { connection: connectionId, kind: row.kind };
    await writeAudit(trx, version, { ...act, ...about, action: 'connection.close', detail });
  });
  return true;
}
