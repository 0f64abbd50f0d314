const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const accountLimits = {
  passwordMin: 10,
  passwordMax: 128,
  /** Session lifetime since the last use, in milliseconds; refreshed at most daily. */
  sessionMs: 7 * DAY_MS,
  invitationMs: 7 * DAY_MS,
  /** Short pauses, so that nobody can lock a user out. Addresses that signed in before are counted separately. */
  accountAttempts: {
    freeAttempts: 5,
    firstPauseMs: SECOND_MS,
    pauseMaxMs: MINUTE_MS,
    rememberMs: 60 * MINUTE_MS,
    rememberedMax: 100_000,
  },
  /** Failed attempts per address (IPv6: per /64), for any account. */
  addressAttempts: {
    freeAttempts: 20,
    firstPauseMs: SECOND_MS,
    pauseMaxMs: 15 * MINUTE_MS,
    rememberMs: 60 * MINUTE_MS,
    rememberedMax: 100_000,
  },
  /** Concurrent password hashes (16 MiB and about 0.1 s of CPU each), and waiting ones. */
  hashesMax: 2,
  hashesWaitingMax: 64,
  /** Per customer. */
  membersMax: 500,
  invitationsMax: 200,
  tokensMax: 200,
  /** Customers that one user may create with open sign-up. */
  customersPerUserMax: 5,
};

export type AccountLimits = Readonly<typeof accountLimits>;

export type OidcProvider = Readonly<{
  /** Part of the path /api/auth/callback/<id>. */
  id: string;
  name: string;
  discoveryUrl: string;
  clientId: string;
  clientSecret: string;
}>;

export type AccountOptions = Readonly<{
  signUp: 'invited' | 'open';
  /** Public origin of the service, for links in emails and for cookies. */
  publicUrl: string | null;
  oidc: readonly OidcProvider[];
  limits: AccountLimits;
}>;
