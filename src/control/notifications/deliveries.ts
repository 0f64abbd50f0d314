import { randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Store } from '../database/open.ts';
import type { Schema } from '../database/schema.ts';
import type { NoticeDeliveryTable } from '../database/tables/notices.ts';
import type { LeakedKey } from '../keys/leaked-keys.ts';
import type { Notice } from './notice.ts';

/** Notices on their way, kept in the store: what one gateway cannot hand over any more another does. */

/** Puts a notice before every target of its customer. */
export async function enqueue(trx: Transaction<Schema>, notice: Notice, nowMs: number): Promise<void> {
  const customerId = notice.customer.id;
  const targets = await trx
    .selectFrom('notice_target')
    .select('id')
    .where('customer_id', '=', customerId)
    .execute();
  if (targets.length === 0) return;
  const waiting = { state: 'waiting', tries: 0, due_at: nowMs, problem: null, created_at: nowMs } as const;
  const rows = targets.map(({ id }) => ({
    ...waiting,
    id: randomUUID(),
    target_id: id,
    customer_id: customerId,
    notice: JSON.stringify(notice),
  }));
  await trx.insertInto('notice_delivery').values(rows).execute();
}

/**
 * Takes deliveries that are due, so that nobody else tries them before `leaseMs` are over.
 * @returns no more than `most`, the longest due first.
 */
export async function claimDue(
  db: Kysely<Schema>,
  most: number,
  leaseMs: number,
  nowMs: number,
): Promise<NoticeDeliveryTable[]> {
  const due = await db
    .selectFrom('notice_delivery')
    .selectAll()
    .where('state', '=', 'waiting')
    .where('due_at', '<=', nowMs)
    .orderBy('due_at')
    .limit(most)
    .execute();
  const taken: NoticeDeliveryTable[] = [];
  for (const delivery of due) {
    const change = { due_at: nowMs + leaseMs, tries: delivery.tries + 1 };
    const { numUpdatedRows } = await db
      .updateTable('notice_delivery')
      .set(change)
      .where('id', '=', delivery.id)
      .where('state', '=', 'waiting')
      .where('tries', '=', delivery.tries)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows > 0n) taken.push({ ...delivery, ...change });
  }
  return taken;
}

/** How a try ended. */
type AttemptResult = Readonly<{
  /** null: it was handed over. */
  problem: string | null;
  /** When it is tried again; null: it is not. */
  retryAt: number | null;
}>;

/** Notes how a try ended, of the delivery and of its target. */
export async function recordAttempt(
  store: Store,
  { id, target_id }: Pick<NoticeDeliveryTable, 'id' | 'target_id'>,
  { problem, retryAt }: AttemptResult,
  nowMs: number,
): Promise<void> {
  const state = problem === null ? 'sent' : retryAt === null ? 'failed' : 'waiting';
  await store.db.transaction().execute(async (trx) => {
    await trx
      .updateTable('notice_delivery')
      .set({ state, problem, due_at: retryAt ?? nowMs })
      .where('id', '=', id)
      .execute();
    await recordOutcome(trx, target_id, problem, nowMs);
  });
}

/** Takes the right to try a target out, of which there is one in a while, whether it is reached or not. */
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

/** Notes of a target what came of the last thing that was to be handed over. */
export async function recordOutcome(
  db: Kysely<Schema>,
  targetId: string,
  problem: string | null,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable('notice_target')
    .set({ last_problem: problem, ...(problem === null ? { last_sent_at: nowMs } : {}) })
    .where('id', '=', targetId)
    .execute();
}

/** Forgets what was told before a time. */
export async function pruneNotices({ db }: Store, beforeMs: number): Promise<void> {
  await db.deleteFrom('notice_delivery').where('created_at', '<', beforeMs).execute();
  await db.deleteFrom('quota_notice').where('at', '<', beforeMs).execute();
}

/** Lets the customer of a key be told that it was found where others can read it. */
export async function enqueueLeak(
  trx: Transaction<Schema>,
  { key, url, revoked }: LeakedKey,
  nowMs: number,
): Promise<void> {
  const customer = await trx
    .selectFrom('customer')
    .select(['id', 'name'])
    .where('id', '=', key.customerId)
    .executeTakeFirst();
  if (customer === undefined) return;
  const leaked = { id: key.id, name: key.name, revoked, url };
  await enqueue(trx, { type: 'key.leaked', customer, at: new Date(nowMs).toISOString(), key: leaked }, nowMs);
}
