import { randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { DEFAULT_CUSTOMER_ID } from '../accounts/roles.ts';
import { countRows, fieldsOf, findRow, insertRow, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { NoticeDeliveryTable, NoticeTargetTable } from '../database/tables/notices.ts';
import type { LeakedKey } from '../keys/leaked-keys.ts';
import { type Notice, noticeLimits } from './notice.ts';
import { listTargets } from './targets.ts';

/** Targets of the operators' alerts. */
export const alertTargets = (db: Kysely<Schema>): Promise<NoticeTargetTable[]> =>
  listTargets(db, { customerId: DEFAULT_CUSTOMER_ID, isAlert: true });

/** Queues a notification for each target, so that any gateway can deliver it. */
export async function enqueue(
  trx: Transaction<Schema>,
  targets: readonly NoticeTargetTable[],
  notice: Notice,
  nowMs: number,
): Promise<void> {
  const waiting = { state: 'waiting', tries: 0, due_at: nowMs, problem: null, created_at: nowMs } as const;
  for (const { id: target_id, customer_id } of targets) {
    const queued = await countRows(trx, 'notice_delivery', { target_id, state: 'waiting' });
    if (queued >= noticeLimits.waitingMax) continue;
    const row = { ...waiting, id: randomUUID(), target_id, customer_id, notice: JSON.stringify(notice) };
    await insertRow(trx, 'notice_delivery', row);
  }
}

/** Queues a notification for all targets of a customer. */
export async function enqueueForCustomer(
  trx: Transaction<Schema>,
  customerId: string,
  notice: Notice,
  nowMs: number,
): Promise<void> {
  await enqueue(trx, await listTargets(trx, { customerId, isAlert: false }), notice, nowMs);
}

/** Claims due deliveries for `leaseMs`, the longest overdue first. */
export async function claimDue(
  db: Kysely<Schema>,
  most: number,
  leaseMs: number,
  nowMs: number,
): Promise<NoticeDeliveryTable[]> {
  const due = await selectRows(db, 'notice_delivery', { state: 'waiting' })
    .where('due_at', '<=', nowMs)
    .orderBy('due_at')
    .limit(most)
    .execute();
  const taken: NoticeDeliveryTable[] = [];
  for (const delivery of due) {
    const change = { due_at: nowMs + leaseMs, tries: delivery.tries + 1 };
    const { id, tries } = delivery;
    const updated = await updateRows(db, 'notice_delivery', { id, state: 'waiting', tries }, change);
    if (updated > 0) taken.push({ ...delivery, ...change });
  }
  return taken;
}

type AttemptResult = Readonly<{
  /** null: delivered. */
  problem: string | null;
  /** Time of the next attempt in Unix milliseconds; null: no further attempt. */
  retryAt: number | null;
}>;

export async function recordAttempt(
  store: Store,
  { id, target_id }: Pick<NoticeDeliveryTable, 'id' | 'target_id'>,
  { problem, retryAt }: AttemptResult,
  nowMs: number,
): Promise<void> {
  const state = problem === null ? 'sent' : retryAt === null ? 'failed' : 'waiting';
  await store.db.transaction().execute(async (trx) => {
    await updateRows(trx, 'notice_delivery', { id }, { state, problem, due_at: retryAt ?? nowMs });
    await recordOutcome(trx, target_id, problem, nowMs);
  });
}

/** Claims a test of a target: at most one per interval, successful or not. @returns false if it is too early. */
export async function claimTest(
  { db }: Store,
  targetId: string,
  intervalMs: number,
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('notice_target')
    .set({ tested_at: nowMs })
    .where('id', '=', targetId)
    .where('tested_at', '<=', nowMs - intervalMs)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

export async function recordOutcome(
  db: Kysely<Schema>,
  targetId: string,
  problem: string | null,
  nowMs: number,
): Promise<void> {
  const values = { last_problem: problem, ...(problem === null ? { last_sent_at: nowMs } : {}) };
  await updateRows(db, 'notice_target', { id: targetId }, values);
}

export async function pruneNotices({ db }: Store, beforeMs: number): Promise<void> {
  await db.deleteFrom('notice_delivery').where('created_at', '<', beforeMs).execute();
  await db.deleteFrom('quota_notice').where('at', '<', beforeMs).execute();
}

export async function enqueueLeak(
  trx: Transaction<Schema>,
  { key, url, revoked }: LeakedKey,
  nowMs: number,
): Promise<void> {
  const row = await findRow(trx, 'customer', { id: key.customerId });
  if (row === undefined) return;
  const customer = fieldsOf(row, 'id', 'name');
  const leaked = { id: key.id, name: key.name, revoked, url };
  const at = new Date(nowMs).toISOString();
  await enqueueForCustomer(trx, customer.id, { type: 'key.leaked', customer, at, key: leaked }, nowMs);
}
