export interface NoticeTables {
  notice_target: NoticeTargetTable;
  /** A quota threshold that was reached. Only the first gateway to detect it inserts the row. */
  quota_notice: {
    /** Start of the month. */
    month: number;
    customer_id: string;
    plan_id: string;
    percent: number;
    used: number;
    credits: number;
    at: number;
  };
  notice_delivery: NoticeDeliveryTable;
}

export interface NoticeTargetTable {
  id: string;
  customer_id: string;
  kind: 'webhook' | 'email' | 'slack' | 'pagerduty';
  /** Email address, or the webhook URL truncated for display, because a URL may contain secrets. */
  shown: string;
  /** URL, and signing secret or routing key, sealed by notifications/webhooks.ts; empty for email. */
  sealed: string;
  pepper_version: number;
  created_by: string;
  created_at: number;
  last_sent_at: number | null;
  last_problem: string | null;
  /** Time of the last test, whatever its result; 0: never tested. */
  tested_at: number;
  /** 1: receives the operators' alerts instead of the customer's notifications. */
  is_alert: number;
}

/** Delivery of one notification to one target. */
export interface NoticeDeliveryTable {
  id: string;
  target_id: string;
  customer_id: string;
  /** The notification as JSON. */
  notice: string;
  state: 'waiting' | 'sent' | 'failed';
  tries: number;
  /** Time of the next attempt; while a gateway has claimed the delivery, the end of its lease. */
  due_at: number;
  problem: string | null;
  created_at: number;
}

export const noticeTables = `
  create table notice_target (
    id text primary key, customer_id text not null references customer (id), kind text not null,
    shown text not null, sealed text not null, pepper_version integer not null, created_by text not null,
    created_at bigint not null, last_sent_at bigint, last_problem text
  );
  create index notice_target_customer on notice_target (customer_id);
  create table quota_notice (
    month bigint not null, customer_id text not null, plan_id text not null, percent integer not null,
    used bigint not null, credits bigint not null, at bigint not null,
    constraint quota_notice_row primary key (month, customer_id, plan_id, percent)
  );
  create table notice_delivery (
    id text primary key, target_id text not null, customer_id text not null, notice text not null,
    state text not null, tries integer not null, due_at bigint not null, problem text,
    created_at bigint not null
  );
  create index notice_delivery_due on notice_delivery (state, due_at)`;
