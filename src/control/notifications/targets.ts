import { randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { deleteRows, insertRow, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { NoticeTargetTable } from '../database/tables/notices.ts';
import { displayUrl, newSigningSecret, type WebhookSeal } from './webhooks.ts';

/** Either the notifications of a customer, or the operators' alerts. */
export type TargetScope = Readonly<{ customerId: string; isAlert: boolean }>;

export const scopeColumns = ({ customerId, isAlert }: TargetScope) => ({
  customer_id: customerId,
  is_alert: isAlert ? 1 : 0,
});

export const listTargets = (db: Kysely<Schema>, scope: TargetScope): Promise<NoticeTargetTable[]> =>
  selectRows(db, 'notice_target', scopeColumns(scope)).orderBy('created_at').orderBy('id').execute();

type NewTarget = Readonly<{
  scope: TargetScope;
  kind: NoticeTargetTable['kind'];
  to: string;
  /** Routing key of PagerDuty. */
  secret?: string | undefined;
  createdBy: string;
  createdAt: number;
}>;

/** Adds a target. The returned `secret` signs webhook calls; null for other kinds. */
export async function addTarget(
  trx: Transaction<Schema>,
  seal: WebhookSeal,
  { scope, kind, to, secret: given = '', createdBy, createdAt }: NewTarget,
): Promise<Readonly<{ row: NoticeTargetTable; secret: string | null }>> {
  const id = randomUUID();
  const secret = kind === 'webhook' ? newSigningSecret() : null;
  const stored =
    kind === 'email'
      ? { shown: to, sealed: '', pepper_version: 0 }
      : { shown: displayUrl(to), ...seal.seal({ url: to, secret: secret ?? given }, scope.customerId, id) };
  const row: NoticeTargetTable = {
    id,
    ...scopeColumns(scope),
    kind,
    ...stored,
    created_by: createdBy,
    created_at: createdAt,
    last_sent_at: null,
    tested_at: 0,
    last_problem: null,
  };
  await insertRow(trx, 'notice_target', row);
  return { row, secret };
}

/** Removes a target and its pending deliveries. */
export async function removeTarget(trx: Transaction<Schema>, id: string): Promise<void> {
  await deleteRows(trx, 'notice_delivery', { target_id: id });
  await deleteRows(trx, 'notice_target', { id });
}

/** Re-encrypts webhooks that are not sealed with the current pepper. */
export async function resealTargets(db: Kysely<Schema>, seal: WebhookSeal): Promise<void> {
  const rows = await selectRows(db, 'notice_target', {})
    .where('kind', '<>', 'email')
    .where('pepper_version', '<>', seal.current)
    .execute();
  for (const row of rows) {
    const webhook = seal.open(row, row.customer_id, row.id);
    if (webhook === null) continue;
    const sealed = seal.seal(webhook, row.customer_id, row.id);
    await updateRows(db, 'notice_target', { id: row.id, sealed: row.sealed }, sealed);
  }
}
