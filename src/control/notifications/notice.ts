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

/** A notification, as sent in the body of a webhook. Times are ISO 8601 in UTC. */
export type Notice = QuotaNotice | KeyLeakedNotice | (CustomerNotice & Readonly<{ type: 'test' }>);

type NoticeText = Readonly<{ subject: string; text: string }>;

const NAME_MAX = 40;
/** Text that mail programs turn into links. */
const LINK = /\S*(?::\/\/|www\.|@|\.\p{L}{2,})\S*/giu;

/** Makes a user-chosen name safe to include in emails: short, on one line, without links. */
function displayName({ id, name }: Named): string {
  const plain = name.replace(/\p{C}/gu, ' ').replace(LINK, '…').slice(0, NAME_MAX);
  return `"${plain}" (${id})`;
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

export function renderNotice(notice: Notice): NoticeText {
  if (notice.type === 'quota.used') return quotaText(notice);
  if (notice.type === 'key.leaked') return leakText(notice);
  return {
    subject: 'Solway notifications will arrive here',
    text: `This is a test. Quota notifications of ${displayName(notice.customer)} will be sent to this address.\n`,
  };
}
