import type { Kysely } from 'kysely';

/** Who is told when a quota runs out, and what was told already. Times are Unix milliseconds. */
export interface NoticeTables {
  notice_target: NoticeTargetTable;
  quota_notice: QuotaNoticeTable;
  notice_delivery: NoticeDeliveryTable;
}

/** Whom a customer wants to be told. */
export interface NoticeTargetTable {
  id: string;
  customer_id: string;
  kind: 'webhook' | 'email';
  /** The address; of a webhook its URL as it may be shown, since the rest of it may be a secret. */
  shown: string;
  /** Of a webhook, URL and signing secret under a key of the server: notices/sealed-webhook.ts; else empty. */
  sealed: string;
  /** The pepper from which that key was derived. */
  pepper_version: number;
  created_by: string;
  created_at: number;
  /** When something was handed over last, and why the last thing was not. */
  last_sent_at: number | null;
  last_problem: string | null;
  /** When somebody asked for a test last, however it ended; 0: nobody did. */
  tested_at: number;
}

/** That a quota was used to so many percent: one row, whichever gateway saw it first. */
export interface QuotaNoticeTable {
  /** When the month began. */
  month: number;
  customer_id: string;
  plan_id: string;
  percent: number;
  used: number;
  credits: number;
  at: number;
}

/** One notice to one target, until it is handed over or given up. */
export interface NoticeDeliveryTable {
  id: string;
  target_id: string;
  customer_id: string;
  /** JSON object: what the notice says. */
  notice: string;
  state: 'waiting' | 'sent' | 'failed';
  tries: number;
  /** When it is tried next; while somebody tries, when another may. */
  due_at: number;
  problem: string | null;
  created_at: number;
}

/** Step 10 of the schema. */
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
