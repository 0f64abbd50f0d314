import { isDeepStrictEqual } from 'node:util';
import type { Configuration } from '../config/configuration.ts';
import { type Mailer, type MailOptions, SmtpMailer } from '../control/notifications/email.ts';

function optionsOf({ smtpUrl, from, timeoutMs, inFlightMax }: Configuration['mail']): MailOptions | null {
  return smtpUrl === null || from === null ? null : { smtpUrl, from, timeoutMs, inFlightMax };
}

/**
 * What hands mail over as the configuration says; null where it names no mail server. Another server that is named while
 * the service runs gets the mails from then on.
 */
export function openMailer({ mail }: Configuration): Mailer | null {
  let options = optionsOf(mail);
  if (options === null) return null;
  let mailer = new SmtpMailer(options);
  return {
    send(message) {
      const now = optionsOf(mail);
      if (now !== null && !isDeepStrictEqual(now, options)) {
        options = now;
        mailer = new SmtpMailer(now);
      }
      return mailer.send(message);
    },
  };
}
