import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { PerKeySemaphore } from '../../base/concurrency/per-key-semaphore.ts';
import type { AttemptLimits } from '../../gateway/auth/attempt-limiter.ts';
import { Failure } from '../../protocol/errors.ts';

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

const deriveKey = promisify(pbkdf2);

/** Bytes of a secretbox key. */
const KEY_BYTES = 32;

/** How many derivations there may be at a time, and may wait. */
export type DerivationLimits = Pick<
  SemiWalletLimits,
  'derivationsMax' | 'derivationsPerOwnerMax' | 'derivationQueueMax' | 'derivationPerOwnerQueueMax'
>;

/**
 * PBKDF2-HMAC-SHA256 of the password's UTF-8, 32 bytes. Whoever gets the key fills it with zeros after use.
 * @throws Failure OVERLOADED when too many wait.
 */
export type DeriveKey = (password: string, salt: Uint8Array, iterations: number) => Promise<Buffer>;

/** Keys out of passwords, a few at a time: each takes a thread a good part of a second. Owners take turns. */
export class KeyDerivation {
  readonly #semaphore: PerKeySemaphore;

  constructor(limits: DerivationLimits) {
    this.#semaphore = new PerKeySemaphore({
      permitsMax: limits.derivationsMax,
      keyPermitsMax: limits.derivationsPerOwnerMax,
      waitingMax: limits.derivationQueueMax,
      keyWaitingMax: limits.derivationPerOwnerQueueMax,
      waitMs: null,
    });
  }

  /** What derives keys for an owner. */
  forOwner(ownerId: string): DeriveKey {
    return async (password, salt, iterations) => {
      if (!(await this.#semaphore.acquire(ownerId))) throw new Failure('OVERLOADED');
      const bytes = Buffer.from(password, 'utf8');
      try {
        return await deriveKey(bytes, salt, iterations, KEY_BYTES, 'sha256');
      } finally {
        bytes.fill(0);
        this.#semaphore.release(ownerId);
      }
    };
  }
}
