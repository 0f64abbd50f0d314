import { z } from 'zod';
import { accountLimits as accounts } from '../../control/accounts/account-options.ts';
import { controlApiOptions as api } from '../../control/api/server/limits.ts';
import { httpUrl, MIB, oneOf, section, text, whole } from '../field-types.ts';

/** The sections of who signs in, and of the control API. */

const DAY_MS = 24 * 3_600_000;

/** Where people may sign in besides. */
const oidcProvider = section({
  id: text(/^[a-z0-9][a-z0-9-]{0,31}$/, '1 to 32 small letters, digits and dashes'),
  name: text(/^\P{C}{1,64}$/u, '1 to 64 printable characters'),
  discovery_url: httpUrl,
  client_id: text(/^\P{Cc}{1,512}$/u, 'text of one line'),
  client_secret: z.custom<string>((value) => typeof value === 'string' && /^\P{Cc}{1,2048}$/u.test(value), {
    error: 'is not text of one line: write it as "env:NAME" or "file:PATH"',
  }),
});

const isOrigin = (url: string): boolean => {
  const { origin, href } = new URL(url);
  return href === `${origin}/`;
};

/** `[accounts]`: who may have an account, and how they sign in. */
export const accountsSection = section({
  sign_up: oneOf(['invited', 'open']).default('invited'),
  public_url: httpUrl
    .refine(isOrigin, { error: 'has more than scheme, host and port: write it as "https://host"' })
    .nullable()
    .default(null),
  oidc: z
    .array(oidcProvider, {
      error: 'is not a list of tables: write each provider under its own [[accounts.oidc]]',
    })
    .max(16, { error: 'has more than 16 providers' })
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, {
      error: 'two providers have one id: give each its own',
    })
    .default([]),
  password_min: whole(8, 128).default(accounts.passwordMin),
  session_days: whole(1, 365).default(accounts.sessionMs / DAY_MS),
  invitation_days: whole(1, 365).default(accounts.invitationMs / DAY_MS),
  account_free_tries: whole(1, 1_000).default(accounts.accountTries.freeTries),
  address_free_tries: whole(1, 100_000).default(accounts.addressTries.freeTries),
  hashes_max: whole(1, 256).default(accounts.hashesMax),
  hashes_waiting_max: whole(0, 100_000).default(accounts.hashesWaitingMax),
  members_max: whole(1, 100_000).default(accounts.membersMax),
  invitations_max: whole(1, 100_000).default(accounts.invitationsMax),
  tokens_max: whole(1, 100_000).default(accounts.tokensMax),
  customers_per_user_max: whole(1, 100_000).default(accounts.customersPerUserMax),
});

/** `[control_api]`: what bounds the API behind the dashboard and the command line. */
export const controlApiSection = section({
  body_max_bytes: whole(1_024, 16 * MIB).default(api.bodyMaxBytes),
  body_timeout_ms: whole(100, 600_000).default(api.bodyTimeoutMs),
  requests_max: whole(1, 100_000).default(api.requestsMax),
  site_requests_max: whole(1, 100_000).default(api.siteRequestsMax),
  streams_max: whole(1, 100_000).default(api.streamsMax),
  caller_streams_max: whole(1, 100_000).default(api.callerStreamsMax),
  heartbeat_ms: whole(100, 3_600_000).default(api.heartbeatMs),
  recheck_ms: whole(100, 60_000).default(api.recheckMs),
});
