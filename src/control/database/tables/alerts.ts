import type { Network } from '../../../protocol/call.ts';
import type { ProblemCode, Severity } from '../../health/problem-codes.ts';

export interface AlertTables {
  alert: AlertTable;
  /** No alerts of a problem code are sent until a time. */
  alert_silence: AlertSilenceTable;
}

/** A problem that lasted long enough to alert the operators. */
export interface AlertTable {
  id: string;
  /** Key of the problem while it lasts; null once it is resolved. Unique, so that only one gateway raises the alert. */
  open_key: string | null;
  code: ProblemCode;
  severity: Severity;
  network: Network | null;
  node: string | null;
  customer_id: string | null;
  customer_name: string | null;
  text: string;
  page: string;
  /** When the problem began. */
  since: number;
  raised_at: number;
  /** null: no message was sent, because of a silence or because no recipient could be reached. */
  notified_at: number | null;
  resolved_at: number | null;
}

export interface AlertSilenceTable {
  /** Empty: all codes. */
  code: ProblemCode | '';
  until: number;
  created_by: string;
  created_at: number;
}

export const alertTables = `
  create table alert (
    id text primary key, open_key text unique, code text not null, severity text not null, network text,
    node text, customer_id text, customer_name text, text text not null, page text not null,
    since bigint not null, raised_at bigint not null, notified_at bigint, resolved_at bigint
  );
  create index alert_raised on alert (raised_at);
  create table alert_silence (
    code text primary key, until bigint not null, created_by text not null, created_at bigint not null
  );
  alter table notice_target add column is_alert bigint not null default 0`;
