import type { Kysely } from 'kysely';

/** Quota notifications and their deliveries. Times are Unix milliseconds. */
export interface NoticeTables {
  notice_target: NoticeTargetTable;
  quota_notice: QuotaNoticeTable;
  notice_delivery: NoticeDeliveryTable;
}

export interface NoticeTargetTable {
  id: string;
  customer_id: string;
  kind: 'webhook' | 'email';
  /** Email address, or the display form of a webhook URL, which may contain secrets. */
  shown: string;
  /** Webhook URL and signing secret under a server key: notifications/webhooks.ts; else empty. */
  sealed: string;
  /** Pepper from which the server key was derived. */
  pepper_version: number;
  created_by: string;
  created_at: number;
  /** Last delivery, and the problem of the last failed one. */
  last_sent_at: number | null;
  last_problem: string | null;
  /** Last test request, whatever its result; 0: none. */
  tested_at: number;
}

/** A reached quota threshold: one row, whichever gateway saw it first. */
export interface QuotaNoticeTable {
  /** Start of the month. */
  month: number;
  customer_id: string;
  plan_id: string;
  percent: number;
  used: number;
  credits: number;
  at: number;
}

/** One notification to one target until delivered or abandoned. */
export interface NoticeDeliveryTable {
  id: string;
  target_id: string;
  customer_id: string;
  /** JSON object. */
  notice: string;
  state: 'waiting' | 'sent' | 'failed';
  tries: number;
  /** Time of the next attempt; while claimed, the end of the lease. */
  due_at: number;
  problem: string | null;
  created_at: number;
}

export async function createNoticeTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('notice_target')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('customer_id', 'text', (column) => column.notNull().references('customer.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('shown', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('pepper_version', 'integer', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_sent_at', 'bigint')
    .addColumn('last_problem', 'text')
    .execute();
  await db.schema.createIndex('notice_target_customer').on('notice_target').column('customer_id').execute();
  await db.schema
    .createTable('quota_notice')
    .addColumn('month', 'bigint', (column) => column.notNull())
    .addColumn('customer_id', 'text', (column) => column.notNull())
    .addColumn('plan_id', 'text', (column) => column.notNull())
    .addColumn('percent', 'integer', (column) => column.notNull())
    .addColumn('used', 'bigint', (column) => column.notNull())
    .addColumn('credits', 'bigint', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('quota_notice_row', ['month', 'customer_id', 'plan_id', 'percent'])
    .execute();
  await db.schema
    .createTable('notice_delivery')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('target_id', 'text', (column) => column.notNull())
    .addColumn('customer_id', 'text', (column) => column.notNull())
    .addColumn('notice', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('problem', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('notice_delivery_due')
    .on('notice_delivery')
    .columns(['state', 'due_at'])
    .execute();
}
