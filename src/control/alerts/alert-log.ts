import { randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { fieldsOf, selectRows, updateRows, upsertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { AlertSilenceTable, AlertTable } from '../database/tables/alerts.ts';
import { transact } from '../database/transaction.ts';
import { PROBLEMS_MAX, type Problem, problemKey } from '../health/problem.ts';
import type { ProblemCode } from '../health/problem-codes.ts';
import { alertTargets, enqueue } from '../notifications/delivery-queue.ts';
import type { AlertNotice } from '../notifications/notice.ts';

export type OpenAlert = AlertTable & Readonly<{ open_key: string }>;

/** Alerts that are not resolved. */
export async function readOpenAlerts({ db }: Pick<Store, 'db'>): Promise<OpenAlert[]> {
  const rows = await db
    .selectFrom('alert')
    .selectAll()
    .where('open_key', 'is not', null)
    .orderBy('raised_at')
    .limit(2 * PROBLEMS_MAX)
    .execute();
  return rows.flatMap((row) => (row.open_key === null ? [] : [{ ...row, open_key: row.open_key }]));
}

/** The newest alerts, resolved or not. */
export const readAlerts = ({ db }: Store, most: number): Promise<AlertTable[]> =>
  selectRows(db, 'alert', {}).orderBy('raised_at', 'desc').orderBy('id').limit(most).execute();

export const readSilences = ({ db }: Pick<Store, 'db'>, nowMs: number): Promise<AlertSilenceTable[]> =>
  selectRows(db, 'alert_silence', {}).where('until', '>', nowMs).orderBy('code').execute();

export const isSilenced = (silences: readonly AlertSilenceTable[], code: ProblemCode): boolean =>
  silences.some((silence) => silence.code === '' || silence.code === code);

export function setSilence(
  trx: Transaction<Schema>,
  code: AlertSilenceTable['code'],
  silence: Omit<AlertSilenceTable, 'code'>,
): Promise<void> {
  return upsertRow(trx, 'alert_silence', { code }, silence);
}

export const alertRow = (
  { code, severity, network, node, customer, text, page, since }: Problem,
  nowMs: number,
): OpenAlert => ({
  id: randomUUID(),
  open_key: problemKey({ code, network, node }, customer?.id),
  ...{ code, severity, network, node, text, page, since },
  customer_id: customer?.id ?? null,
  customer_name: customer?.name ?? null,
  raised_at: nowMs,
  notified_at: null,
  resolved_at: null,
});

export function alertNoticeOf(row: AlertTable, type: AlertNotice['type'], nowMs: number): AlertNotice {
  const { customer_id, customer_name } = row;
  const customer = customer_id === null ? null : { id: customer_id, name: customer_name ?? '' };
  const alert = { ...fieldsOf(row, 'id', 'code', 'severity', 'network', 'node', 'text', 'page'), customer };
  return {
    type,
    at: new Date(nowMs).toISOString(),
    alert: { ...alert, since: new Date(row.since).toISOString() },
  };
}

async function send(
  trx: Transaction<Schema>,
  row: AlertTable,
  type: AlertNotice['type'],
  nowMs: number,
): Promise<void> {
  await enqueue(trx, await alertTargets(trx), alertNoticeOf(row, type, nowMs), nowMs);
}

/**
 * Stores an alert, unless another gateway has stored it, and queues its messages.
 * @returns whether messages were queued.
 */
export function raiseAlert(store: Store, row: OpenAlert, silenced: boolean, nowMs: number): Promise<boolean> {
  return transact(store, async (trx) => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('alert')
      .values({ ...row, notified_at: silenced ? null : nowMs })
      .onConflict((conflict) => conflict.column('open_key').doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows !== 1n || silenced) return false;
    await send(trx, row, 'alert.raised', nowMs);
    return true;
  });
}

/** Queues the messages of an alert that was silenced when it was raised. @returns false if another gateway did so. */
export function notifyLate(store: Store, row: OpenAlert, nowMs: number): Promise<boolean> {
  const { id, open_key } = row;
  return transact(store, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('alert')
      .set({ notified_at: nowMs })
      .where('id', '=', id)
      .where('open_key', '=', open_key)
      .where('notified_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) return false;
    await send(trx, row, 'alert.raised', nowMs);
    return true;
  });
}

/** Drops messages of an alert that were not delivered yet. */
async function deleteWaiting(trx: Transaction<Schema>, alertId: string): Promise<void> {
  await trx
    .deleteFrom('notice_delivery')
    .where('state', '=', 'waiting')
    .where('notice', 'like', `%"${alertId}"%`)
    .execute();
}

/** Ends an alert. Queues messages only if its beginning was sent. @returns whether messages were queued. */
export function resolveAlert(store: Store, row: OpenAlert, nowMs: number): Promise<boolean> {
  const { id, open_key } = row;
  return transact(store, async (trx) => {
    const change = { open_key: null, resolved_at: nowMs };
    if ((await updateRows(trx, 'alert', { id, open_key }, change)) !== 1) return false;
    if (row.notified_at === null) return false;
    // A late beginning would open an incident that nothing closes.
    await deleteWaiting(trx, id);
    await send(trx, row, 'alert.resolved', nowMs);
    return true;
  });
}

/** Stores an alert whose messages were sent while the database was unreachable. */
export async function storeSentAlert(db: Kysely<Schema>, row: OpenAlert): Promise<void> {
  await db
    .insertInto('alert')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes alerts that were resolved before the time, and the oldest resolved ones beyond `most`. */
export async function pruneAlerts({ db }: Store, beforeMs: number, most: number): Promise<void> {
  await db.deleteFrom('alert').where('resolved_at', '<', beforeMs).execute();
  const first = await db
    .selectFrom('alert')
    .select('resolved_at')
    .where('resolved_at', 'is not', null)
    .orderBy('resolved_at', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst();
  if (first !== undefined)
    await db.deleteFrom('alert').where('resolved_at', '<=', first.resolved_at).execute();
  await db.deleteFrom('alert_silence').where('until', '<', beforeMs).execute();
}
