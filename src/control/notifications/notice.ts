import type { Network } from '../../protocol/call.ts';
import type { ProblemCode, Severity } from '../health/problem-codes.ts';

export const noticeLimits = {
  /** Interval between quota checks. */
  watchIntervalMs: 1_000,
  /** Interval between polls for due deliveries. */
  pollIntervalMs: 2_000,
  inFlightMax: 8,
  /** Timeout of one attempt. */
  timeoutMs: 10_000,
  triesMax: 8,
  /** First retry delay; each further delay is four times the previous delay, up to `retryMaxMs`. */
  retryMs: 10_000,
  retryMaxMs: 3_600_000,
  /** Per customer. */
  targetsMax: 10,
  /** Per target. Beyond it, no more deliveries are queued. */
  waitingMax: 1_000,
  /** Minimum time between a test of a target and the previous delivery or test. */
  testIntervalMs: 5_000,
  retentionDays: 400,
};

export type NoticeLimits = Readonly<typeof noticeLimits>;

/** Quota thresholds in percent; each triggers at most one notification a month per customer and plan. */
export const NOTICE_PERCENTS = [80, 95, 100] as const;

type Named = Readonly<{ id: string; name: string }>;
type CustomerNotice = Readonly<{ customer: Named; at: string }>;

type QuotaNotice = CustomerNotice &
  Readonly<{
    type: 'quota.used';
    plan: Named;
    quota: Readonly<{
      percent: number;
      used: number;
      limit: number;
      /** Whether calls beyond the limit are rejected. */
      isHard: boolean;
      from: string;
      to: string;
    }>;
  }>;

type KeyLeakedNotice = CustomerNotice &
  Readonly<{ type: 'key.leaked'; key: Named & Readonly<{ revoked: boolean; url: string | null }> }>;

type CustomerTestNotice = CustomerNotice & Readonly<{ type: 'test' }>;

/** The alert has the same id when it is raised and when it is resolved. */
export type AlertNotice = Readonly<{
  type: 'alert.raised' | 'alert.resolved';
  at: string;
  alert: Readonly<{
    id: string;
    code: ProblemCode;
    severity: Severity;
    network: Network | null;
    node: string | null;
    customer: Named | null;
    text: string;
    /** Path of the dashboard page that shows the cause. */
    page: string;
    since: string;
  }>;
}>;

export type AlertTestNotice = Readonly<{ type: 'alert.test'; at: string }>;

/** A notification, as sent in the body of a webhook. Times are ISO 8601 in UTC. */
export type Notice = QuotaNotice | KeyLeakedNotice | CustomerTestNotice | AlertNotice | AlertTestNotice;

type NoticeText = Readonly<{ subject: string; text: string }>;

const NAME_MAX = 40;
/** Text that mail programs turn into links. */
const LINK = /\S*(?::\/\/|www\.|@|\.\p{L}{2,})\S*/giu;

/** Makes text with user-chosen names safe to include in messages: on one line, without links. */
const withoutLinks = (text: string): string => text.replace(/\p{C}/gu, ' ').replace(LINK, '…');

function displayName({ id, name }: Named): string {
  return `"${withoutLinks(name).slice(0, NAME_MAX)}" (${id})`;
}

const number = (value: number): string => value.toLocaleString('en-US');

function quotaText({ customer, plan, quota }: QuotaNotice): NoticeText {
  const { percent, used, limit, isHard, to } = quota;
  const then = isHard
    ? 'Calls beyond the limit are rejected with QUOTA_EXCEEDED.'
    : 'Calls beyond the limit are still served.';
  return {
    subject: `${percent} % of the credits of this month are used`,
    text:
      `${displayName(customer)} has used ${number(used)} of the ${number(limit)} credits that the plan ` +
      `${plan.name} includes this month.\n\n${then} Credits reset on ${to.slice(0, 10)} at 00:00 UTC.\n`,
  };
}

function leakText({ customer, key }: KeyLeakedNotice): NoticeText {
  const where = key.url === null ? '' : ` It was found at ${key.url}.`;
  const then = key.revoked
    ? 'It has been revoked. Create a new key.'
    : 'Rotate it, and end the overlap as soon as your programs use the new key.';
  return {
    subject: 'An API key was leaked',
    text: `The key ${displayName(key)} of ${displayName(customer)} was reported as leaked.${where}\n\n${then}\n`,
  };
}

const alertSubjects: Readonly<Record<ProblemCode, string>> = {
  no_ready_node: 'No ready node',
  database_unavailable: 'Database unavailable',
  clickhouse_unavailable: 'ClickHouse unavailable',
  clickhouse_rows_rejected: 'Rows rejected by ClickHouse',
  disk_full: 'Disk nearly full',
  usage_loss: 'Usage lost',
  stripe_push: 'Stripe usage reporting failing',
  stripe_totals: 'Stripe totals differ',
  error_rate: 'High error rate',
  stream_lag: 'Streams behind',
  node_unhealthy: 'Unhealthy node',
  log_loss: 'Log entries lost',
  quota_spent: 'Quota exhausted',
};

function alertText({ type, at, alert }: AlertNotice, publicUrl: string | null): NoticeText {
  const { code, text, network, node, customer, page, since } = alert;
  const subject = [alertSubjects[code], node ?? network].filter((part) => part !== null).join(': ');
  const sentence = customer === null ? text : withoutLinks(text);
  const isResolved = type === 'alert.resolved';
  const times = isResolved ? `From ${since} to ${at}.` : `Since ${since}.`;
  const link = publicUrl === null ? '' : `\n\n${publicUrl}${page}`;
  return {
    subject: isResolved ? `Resolved: ${subject}` : subject,
    text: `${isResolved ? `Resolved: ${sentence}` : sentence}\n\n${times}${link}\n`,
  };
}

/** @param publicUrl - address of the dashboard; null: unknown. */
export function renderNotice(notice: Notice, publicUrl: string | null = null): NoticeText {
  switch (notice.type) {
    case 'quota.used':
      return quotaText(notice);
    case 'key.leaked':
      return leakText(notice);
    case 'alert.raised':
    case 'alert.resolved':
      return alertText(notice, publicUrl);
    case 'alert.test':
      return { subject: 'Solway alerts will arrive here', text: 'This is a test of Solway alerts.\n' };
    case 'test':
      return {
        subject: 'Solway notifications will arrive here',
        text: `This is a test. Quota notifications of ${displayName(notice.customer)} will be sent to this address.\n`,
      };
  }
}
