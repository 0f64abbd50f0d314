const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const accountLimits = {
  passwordMin: 10,
  passwordMax: 128,
  /** Session lifetime in milliseconds, renewed on use, but at most once a day. */
  sessionMs: 7 * DAY_MS,
  invitationMs: 7 * DAY_MS,
  /** Limits for failed attempts per account. Short pauses avoid locking out the user. See sign-in-attempts.ts. */
  accountAttempts: {
    freeAttempts: 5,
    firstPauseMs: SECOND_MS,
    pauseMaxMs: MINUTE_MS,
    rememberMs: 60 * MINUTE_MS,
    rememberedMax: 100_000,
  },
  /** Limits for failed attempts per client address (IPv6: per /64), across all accounts. */
  addressAttempts: {
    freeAttempts: 20,
    firstPauseMs: SECOND_MS,
    pauseMaxMs: 15 * MINUTE_MS,
    rememberMs: 60 * MINUTE_MS,
    rememberedMax: 100_000,
  },
  /** Maximum concurrent password hashes. Each takes 16 MiB and about 0.1 s of CPU. */
  hashesMax: 2,
  /** Maximum queued password hashes. */
  hashesWaitingMax: 64,
  /** Maximum members, open invitations and active tokens per customer. */
  membersMax: 500,
  invitationsMax: 200,
  tokensMax: 200,
  /** Maximum active links to the usage of a customer. */
  usageLinksMax: 10,
  /** Maximum customers that one user may own if sign-up is open. */
  customersPerUserMax: 5,
};

export type AccountLimits = Readonly<typeof accountLimits>;

export type OidcProvider = Readonly<{
  /** Used in the callback path, /api/auth/callback/<id>. */
  id: string;
  name: string;
  discoveryUrl: string;
  clientId: string;
  clientSecret: string;
  /** Users with a verified address of these domains need no invitation to become viewers of the operator's customer. */
  domains: readonly string[];
  /** Audience of the provider's JWTs that the control API accepts as tokens; null: it accepts none. */
  tokenAudience: string | null;
}>;

export type AccountOptions = Readonly<{
  signUp: 'invited' | 'open';
  /** Public origin of the service, for links in emails and for cookies. */
  publicUrl: string | null;
  oidc: readonly OidcProvider[];
  limits: AccountLimits;
}>;
