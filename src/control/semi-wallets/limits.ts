import type { AttemptLimits } from '../../gateway/auth/attempt-limiter.ts';

/**
 * Every limit of semi-custodial wallets. Times in milliseconds. What is tried and remembered are passwords of single
 * wallets; wrong ones are remembered for longer than the longest pause.
 */
export type SemiWalletLimits = AttemptLimits &
  Readonly<{
    /** Rounds of PBKDF2 for a new password. Fewer than 600,000 are too easy to guess through. Source: OWASP, 2023. */
    iterations: number;
    /** Derivations at a time. Each takes one of the few threads in which files are read, too. */
    derivationsMax: number;
    /** Those of one owner: a busy one leaves a place to the others. */
    derivationsPerOwnerMax: number;
    /** Derivations that wait; above it a request is refused. Owners take turns, whoever came first. */
    derivationQueueMax: number;
    /** Those of one owner. */
    derivationPerOwnerQueueMax: number;
    /** Wallets of one owner. */
    walletsMax: number;
  }>;

/** Limits that suit people and programs who know their passwords. */
export const semiWalletLimits: SemiWalletLimits = {
  iterations: 600_000,
  derivationsMax: 2,
  derivationsPerOwnerMax: 1,
  derivationQueueMax: 64,
  derivationPerOwnerQueueMax: 16,
  walletsMax: 1_000,
  freeTries: 5,
  firstPauseMs: 1_000,
  pauseMaxMs: 15 * 60_000,
  rememberMs: 3_600_000,
  rememberedMax: 100_000,
};
