import type { AttemptLimits } from '../../gateway/auth/attempt-limiter.ts';

/** What bounds accounts and signing in. */
export type AccountLimits = Readonly<{
  /** Characters of a password. */
  passwordMin: number;
  passwordMax: number;
  /** How long a session lasts after it was last used, in milliseconds; within a day of the truth. */
  sessionMs: number;
  /** How long an invitation can be taken, in milliseconds. */
  invitationMs: number;
  /**
   * Wrong passwords and codes at one account: from each address that signed in to it before, and from all others
   * together. As many pairs of account and address are remembered as accounts.
   */
  accountTries: AttemptLimits;
  /** Wrong passwords and codes from one address, of IPv6 from 64 bits, at whatever account. */
  addressTries: AttemptLimits;
  /** Passwords that are hashed at a time, each with 16 MiB and a core for a tenth of a second, and how many wait. */
  hashesMax: number;
  hashesWaitingMax: number;
  /** Of one customer. */
  membersMax: number;
  invitationsMax: number;
  tokensMax: number;
  /** Customers that one user may make where sign-up is open. */
  customersPerUserMax: number;
}>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** What holds unless something else is set. */
export const accountLimits: AccountLimits = {
  passwordMin: 10,
  passwordMax: 128,
  sessionMs: 7 * DAY_MS,
  invitationMs: 7 * DAY_MS,
  // The longest pause is short: whoever knows somebody's address must not be able to lock them out for long.
  accountTries: {
    freeTries: 5,
    firstPauseMs: SECOND_MS,
    pauseMaxMs: MINUTE_MS,
    rememberMs: 60 * MINUTE_MS,
    rememberedMax: 100_000,
  },
  addressTries: {
    freeTries: 20,
    firstPauseMs: SECOND_MS,
    pauseMaxMs: 15 * MINUTE_MS,
    rememberMs: 60 * MINUTE_MS,
    rememberedMax: 100_000,
  },
  hashesMax: 2,
  hashesWaitingMax: 64,
  membersMax: 500,
  invitationsMax: 200,
  tokensMax: 200,
  customersPerUserMax: 5,
};

/** Where people may sign in besides: a provider of OpenID Connect. */
export type OidcProvider = Readonly<{
  /** Part of the address to which it sends people back: /api/auth/callback/<id>. */
  id: string;
  /** What stands on the button. */
  name: string;
  /** Of its discovery document. */
  discoveryUrl: string;
  clientId: string;
  clientSecret: string;
}>;

/** Who may have an account, and how they sign in. */
export type AccountOptions = Readonly<{
  signUp: 'invited' | 'open';
  /** Where people reach the service, without a path: for links that are mailed, and for cookies. */
  publicUrl: string | null;
  oidc: readonly OidcProvider[];
  limits: AccountLimits;
}>;
