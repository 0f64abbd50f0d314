/** How customers are told. Times in milliseconds. */
export type NoticeLimits = Readonly<{
  /** How often it is looked whether a quota has come to what is told of. */
  watchIntervalMs: number;
  /** How often it is looked whether something is to be handed over. */
  pollIntervalMs: number;
  /** Notices that are being handed over at a time. */
  inFlightMax: number;
  /** One handing over. */
  timeoutMs: number;
  /** How often a notice is tried before it is given up. */
  triesMax: number;
  /** The first pause between two tries; each is four times as long as the one before, up to the longest. */
  retryMs: number;
  retryMaxMs: number;
  /** Webhooks and addresses of a customer. */
  targetsMax: number;
  /** From one thing that is handed over to a target to the next test of it. */
  testIntervalMs: number;
  /** How long it is kept what was told. */
  keptDays: number;
}>;

/** What holds when nothing else is said. */
export const noticeLimits: NoticeLimits = {
  watchIntervalMs: 1_000,
  pollIntervalMs: 2_000,
  inFlightMax: 8,
  timeoutMs: 10_000,
  triesMax: 8,
  retryMs: 10_000,
  retryMaxMs: 3_600_000,
  targetsMax: 10,
  testIntervalMs: 5_000,
  keptDays: 400,
};

/** Parts of a quota, in percent, of which customers are told once a month each. */
export const NOTICE_PERCENTS = [80, 95, 100] as const;

/** What customers are told. It is the body of a webhook too. Times are ISO 8601 in UTC. */
export type Notice = Readonly<
  {
    customer: Readonly<{ id: string; name: string }>;
    /** When it came about. */
    at: string;
  } & (QuotaNotice | KeyLeakedNotice | TestNotice)
>;

type QuotaNotice = {
  type: 'quota.used';
  plan: Readonly<{ id: string; name: string }>;
  quota: Readonly<{
    /** That it has come to: 80, 95 or 100. */
    percent: number;
    used: number;
    limit: number;
    /** Whether what goes beyond the limit is refused. */
    isHard: boolean;
    /** The month. */
    from: string;
    to: string;
  }>;
};

type KeyLeakedNotice = {
  type: 'key.leaked';
  key: Readonly<{ id: string; name: string; revoked: boolean; url: string | null }>;
};

type TestNotice = { type: 'test' };

type NoticeText = Readonly<{ subject: string; text: string }>;

const NAME_MAX = 40;
/** What programs that show mail make a link of. */
const LINK = /\S*(?::\/\/|www\.|@|\.\p{L}{2,})\S*/giu;

/** What somebody called something, in a mail in our name: short, of one line, and with nothing to click on. */
function displayName({ id, name }: Readonly<{ id: string; name: string }>): string {
  const plain = name.replace(/\p{C}/gu, ' ').replace(LINK, '…').slice(0, NAME_MAX);
  return `"${plain}" (${id})`;
}

const number = (value: number): string => value.toLocaleString('en-US');

function quotaText({ customer, plan, quota }: Extract<Notice, { type: 'quota.used' }>): NoticeText {
  const { percent, used, limit, isHard, to } = quota;
  const then = isHard
    ? 'What goes beyond it is refused with QUOTA_EXCEEDED.'
    : 'What goes beyond it is served all the same.';
  return {
    subject: `${percent} % of the credits of this month are used`,
    text: [
      `${displayName(customer)} has used ${number(used)} of the ${number(limit)} credits that the plan ${plan.name}`,
      `includes this month.\n\n${then} The credits begin anew on ${to.slice(0, 10)} at 00:00 UTC.\n`,
    ].join(' '),
  };
}

function leakText({ customer, key }: Extract<Notice, { type: 'key.leaked' }>): NoticeText {
  const where = key.url === null ? '' : ` It stands at ${key.url}.`;
  const then = key.revoked
    ? 'It has been revoked: make a new one.'
    : 'Rotate it, and cut the overlap short as soon as your programs have the new one.';
  return {
    subject: 'A key stands where others can read it',
    text: `The key ${displayName(key)} of ${displayName(customer)} was reported as leaked.${where}\n\n${then}\n`,
  };
}

/** A notice as people read it, in plain text. */
export function renderNotice(notice: Notice): NoticeText {
  if (notice.type === 'quota.used') return quotaText(notice);
  if (notice.type === 'key.leaked') return leakText(notice);
  return {
    subject: 'Notices of Solway come here',
    text: `This is a test. When the credits of ${displayName(notice.customer)} run out, it is told here.\n`,
  };
}
