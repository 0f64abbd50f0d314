import type { Mailer } from '../control/api/services.ts';
import { SmtpMailer } from '../control/mail.ts';
import type { Configuration } from './configuration.ts';

/** What hands mail over as the configuration says; null where it names no mail server. */
export function openMailer({ mail }: Configuration): Mailer | null {
  const { smtpUrl, from, ...limits } = mail;
  return smtpUrl === null || from === null ? null : new SmtpMailer({ smtpUrl, from, ...limits });
}
