import { mailLimits as mail } from '../control/mail.ts';
import { anything, HOUR_MS, section, url, whole } from './configuration-fields.ts';

/** The sections of quotas, of what gateways share, and of how customers are told. */

const smtpUrl = url(['smtp:', 'smtps:'], 'an smtp(s) URL', 'smtp://user:password@host:587');

/** `[mail]`: how mail is handed over. */
export const mailSection = section({
  smtp_url: smtpUrl.nullable().default(null),
  from: anything.nullable().default(null),
  timeout_ms: whole(100, HOUR_MS).default(mail.timeoutMs),
  in_flight_max: whole(1, 10_000).default(mail.inFlightMax),
});
