import { Lru } from '../../base/cache/lru.ts';

/** How much mail goes out that somebody caused to an address of their choice. */
export type MailRateLimits = Readonly<{
  /** In an hour, of one customer, and of one user or token. */
  customerPerHour: number;
  /** In an hour, to one address. */
  recipientPerHour: number;
}>;

/** What holds unless something else is set. */
export const mailRateLimits: MailRateLimits = { customerPerHour: 30, recipientPerHour: 5 };

/** Whose mail, and where it goes. */
export type RateLimitedMail = Readonly<{ customer: string; sender: string; to: string }>;

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
    const { customerPerHour, recipientPerHour } = this.#limits;
    const now = this.#now();
    const shares = [
      [`customer ${customer}`, customerPerHour],
      [`sender ${sender}`, customerPerHour],
      [`to ${to.toLowerCase()}`, recipientPerHour],
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
