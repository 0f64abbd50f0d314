import { createTransport } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport/index.js';
import { Lru } from '../../base/cache/lru.ts';

export interface Mailer {
  /** Sends an email. Some capacity is reserved for urgent emails, such as password resets. @throws MailError */
  send(message: Readonly<{ to: string; subject: string; text: string; isUrgent?: boolean }>): Promise<void>;
}

export const mailLimits = {
  /** Timeout for the DNS lookup, the connection, the greeting and each reply. */
  timeoutMs: 10_000,
  /** Maximum emails sent concurrently; more are rejected. A quarter of this capacity is reserved for urgent emails. */
  inFlightMax: 16,
};

export type MailOptions = Readonly<typeof mailLimits> &
  Readonly<{
    /** `smtp://` or `smtps://`; may contain a password. */
    smtpUrl: string;
    from: string;
  }>;

/** Sending an email failed. The message contains no server text, address or password. */
export class MailError extends Error {
  override name = 'MailError';
}

/** Fixed messages by error code: text from the server may contain anything. Source: nodemailer's error codes. */
const problems: Readonly<Record<string, string>> = {
  EAUTH: 'The mail server rejects the user or password. Correct mail.smtp_url.',
  ECONNECTION: 'The mail server cannot be reached.',
  EDNS: 'The host name of the mail server is unknown. Correct mail.smtp_url.',
  EENVELOPE: 'The mail server rejects the sender or receiver.',
  EMESSAGE: 'The mail server rejects the mail.',
  ESOCKET: 'The mail server cannot be reached.',
  ETIMEDOUT: 'The mail server did not respond in time.',
  ETLS: 'No secure connection to the mail server.',
};

function problemOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return problems[typeof code === 'string' ? code : ''] ?? 'The mail could not be sent.';
}

const transportOf = ({ smtpUrl, timeoutMs }: MailOptions) =>
  createTransport({
    url: smtpUrl,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as SMTPTransport.Options);

/** SMTP client that opens a connection for each email. */
export class SmtpMailer implements Mailer {
  readonly #options: MailOptions;
  #inFlight = 0;

  /** @param options - read again for each email, because a reload may change them. */
  constructor(options: MailOptions) {
    this.#options = options;
  }

  async send({ to, subject, text, isUrgent = false }: Parameters<Mailer['send']>[0]): Promise<void> {
    const { from, inFlightMax } = this.#options;
    const reservedSlots = isUrgent ? 0 : Math.floor(inFlightMax / 4);
    if (this.#inFlight >= inFlightMax - reservedSlots) throw new MailError('Too many mails are being sent.');
    this.#inFlight += 1;
    try {
      // An address object, because a comma in a string would add a second recipient.
      await transportOf(this.#options).sendMail({ from, to: { name: '', address: to }, subject, text });
    } catch (error) {
      throw new MailError(problemOf(error));
    } finally {
      this.#inFlight -= 1;
    }
  }
}

/** Limits on emails that users can trigger to addresses of their choice. */
export const mailRateLimits = {
  /** Limit per customer, and also per user or token. */
  customerPerHour: 30,
  recipientPerHour: 5,
};

type MailRateLimits = Readonly<typeof mailRateLimits>;

type RateLimitedMail = Readonly<{ customer: string; sender: string; to: string }>;

const HOUR_MS = 3_600_000;
const NAMES_MAX = 30_000;

/** Counts the email and returns 0 if it may be sent; otherwise returns the time to wait in milliseconds. */
export type MailRateLimiter = (mail: RateLimitedMail) => number;

/** Limits the emails sent by this gateway. Deleting an invitation or a target does not reset the count. */
export function mailRateLimiter(limits: MailRateLimits, clock: () => number): MailRateLimiter {
  /** Send times in the last hour, earliest first; one entry per customer, per sender and per recipient. */
  const sentAt = new Lru<string, readonly number[]>(NAMES_MAX);
  return ({ customer, sender, to }) => {
    const { customerPerHour, recipientPerHour } = limits;
    const now = clock();
    const shares = [
      [`customer ${customer}`, customerPerHour],
      [`sender ${sender}`, customerPerHour],
      [`to ${to.toLowerCase()}`, recipientPerHour],
    ] as const;
    const sent = shares.map(([name, most]) => {
      const times = (sentAt.get(name) ?? []).filter((at) => at > now - HOUR_MS);
      return { name, times, waitMs: times.length < most ? 0 : (times[0] ?? now) + HOUR_MS - now };
    });
    const waitMs = Math.max(...sent.map((one) => one.waitMs));
    if (waitMs === 0) for (const { name, times } of sent) sentAt.set(name, [...times, now]);
    return waitMs;
  };
}
