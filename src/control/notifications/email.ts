import { createTransport } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport/index.js';
import { Lru } from '../../base/cache/lru.ts';

/** Mail as the operator configured it. */
export interface Mailer {
  /**
   * @param message - one that is urgent, such as a link for a new password, has places that others leave free.
   * @throws Error when it could not be handed over.
   */
  send(message: Readonly<{ to: string; subject: string; text: string; isUrgent?: boolean }>): Promise<void>;
}

/** How mail is handed over. Times in milliseconds. */
type MailLimits = Readonly<{
  /** To be connected, to be greeted, and to hear the server's next word. */
  timeoutMs: number;
  /** Mails that are being handed over at a time; more are refused at once. A quarter is kept for links for new passwords. */
  inFlightMax: number;
}>;

/** What holds when nothing else is said. */
export const mailLimits: MailLimits = { timeoutMs: 10_000, inFlightMax: 16 };

/** Where mail is handed over, and in whose name. */
export type MailOptions = MailLimits &
  Readonly<{
    /** `smtp://user:password@host:587` or `smtps://…`; may hold a password. */
    smtpUrl: string;
    /** `Solway <noreply@example.com>`, or the address alone. */
    from: string;
  }>;

/** A mail could not be handed over. The message holds nothing of the server's words, of addresses or of passwords. */
export class MailError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MailError';
  }
}

/** What went wrong, in our words: those of servers may hold anything. Source: nodemailer's error codes. */
const problems: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not take user and password: correct mail.smtp_url',
  ECONNECTION: 'the mail server cannot be reached',
  EDNS: 'the mail server has no address: correct mail.smtp_url',
  EENVELOPE: 'the mail server does not take sender or receiver',
  EMESSAGE: 'the mail server does not take the mail',
  ESOCKET: 'the mail server cannot be reached',
  ETIMEDOUT: 'the mail server did not answer in time',
  ETLS: 'the connection to the mail server cannot be made safe',
};

function problemOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return problems[typeof code === 'string' ? code : ''] ?? 'the mail could not be handed over';
}

/** Hands mail over to an SMTP server, each over a connection of its own. */
export class SmtpMailer implements Mailer {
  readonly #send: (mail: SMTPTransport.MailOptions) => Promise<unknown>;
  readonly #from: string;
  readonly #inFlightMax: number;
  #inFlight = 0;

  constructor({ smtpUrl, from, timeoutMs, inFlightMax }: MailOptions) {
    const transport = createTransport({
      url: smtpUrl,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as SMTPTransport.Options);
    this.#send = (mail) => transport.sendMail(mail);
    this.#from = from;
    this.#inFlightMax = inFlightMax;
  }

  /** @throws MailError */
  async send({ to, subject, text, isUrgent = false }: Parameters<Mailer['send']>[0]): Promise<void> {
    // A quarter is left to what somebody waits for.
    const reservedSlots = isUrgent ? 0 : Math.floor(this.#inFlightMax / 4);
    if (this.#inFlight >= this.#inFlightMax - reservedSlots)
      throw new MailError('too many mails are being sent right now');
    this.#inFlight += 1;
    try {
      // As an address and not as text, in which a comma would name a second receiver.
      await this.#send({ from: this.#from, to: { name: '', address: to }, subject, text });
    } catch (error) {
      throw new MailError(problemOf(error));
    } finally {
      this.#inFlight -= 1;
    }
  }
}

/** How much mail goes out that somebody caused to an address of their choice. */
type MailRateLimits = Readonly<{
  /** In an hour, of one customer, and of one user or token. */
  customerPerHour: number;
  /** In an hour, to one address. */
  receiverPerHour: number;
}>;

/** What holds unless something else is set. */
export const mailRateLimits: MailRateLimits = { customerPerHour: 30, receiverPerHour: 5 };

/** Whose mail, and where it goes. */
type RateLimitedMail = Readonly<{ customer: string; sender: string; to: string }>;

const HOUR_MS = 3_600_000;
const NAMES_MAX = 30_000;

/**
 * Paces mails that go out in the operator's name to whoever a user names. It is kept beside what causes them, so that
 * taking an invitation back or an address away frees nothing. Memory only, of each gateway.
 */
export class MailRateLimiter {
  readonly #limits: MailRateLimits;
  readonly #now: () => number;
  /** When mails went out in the last hour, the earliest first. */
  readonly #sent = new Lru<string, readonly number[]>(NAMES_MAX);

  constructor(limits: MailRateLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Takes the right to send a mail. @returns 0, or for how many milliseconds there is none. */
  take({ customer, sender, to }: RateLimitedMail): number {
    const { customerPerHour, receiverPerHour } = this.#limits;
    const now = this.#now();
    const shares = [
      [`customer ${customer}`, customerPerHour],
      [`sender ${sender}`, customerPerHour],
      [`to ${to.toLowerCase()}`, receiverPerHour],
    ] as const;
    const sent = shares.map(([name, most]) => {
      const times = (this.#sent.get(name) ?? []).filter((at) => at > now - HOUR_MS);
      return { name, times, waitMs: times.length < most ? 0 : (times[0] ?? now) + HOUR_MS - now };
    });
    const waitMs = Math.max(...sent.map((one) => one.waitMs));
    if (waitMs === 0) for (const { name, times } of sent) this.#sent.set(name, [...times, now]);
    return waitMs;
  }
}
