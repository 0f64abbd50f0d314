import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { PerKeySemaphore } from '../../base/concurrency/per-key-semaphore.ts';
import { Failure } from '../../protocol/errors.ts';

/** Wallet limits. Wrong passwords are counted per wallet and remembered for longer than the longest pause. */
export const semiWalletLimits = {
  /** PBKDF2 iterations for new passwords; at least 600,000 (OWASP, 2023). */
  iterations: 600_000,
  /** Maximum concurrent derivations; each occupies a libuv thread, which file reads also need. */
  derivationsMax: 2,
  derivationsPerOwnerMax: 1,
  /** Maximum waiting derivations; further requests are rejected. */
  derivationQueueMax: 64,
  derivationPerOwnerQueueMax: 16,
  /** Per owner. */
  walletsMax: 1_000,
  freeAttempts: 5,
  firstPauseMs: 1_000,
  pauseMaxMs: 15 * 60_000,
  rememberMs: 3_600_000,
  rememberedMax: 100_000,
};

export type SemiWalletLimits = Readonly<typeof semiWalletLimits>;

const deriveKey = promisify(pbkdf2);

/** Key size of a secretbox. */
const KEY_BYTES = 32;

export type DerivationLimits = Pick<
  SemiWalletLimits,
  'derivationsMax' | 'derivationsPerOwnerMax' | 'derivationQueueMax' | 'derivationPerOwnerQueueMax'
>;

/** PBKDF2-HMAC-SHA256. The caller must zero the key after use. @throws Failure OVERLOADED */
export type DeriveKey = (password: string, salt: Uint8Array, iterations: number) => Promise<Buffer>;

/** Limits concurrent derivations, overall and per owner, so that one owner cannot take all slots. */
export function keyDerivation(limits: DerivationLimits): (ownerId: string) => DeriveKey {
  const semaphore = new PerKeySemaphore({
    permitsMax: limits.derivationsMax,
    keyPermitsMax: limits.derivationsPerOwnerMax,
    waitingMax: limits.derivationQueueMax,
    keyWaitingMax: limits.derivationPerOwnerQueueMax,
    waitMs: null,
  });
  return (ownerId) => async (password, salt, iterations) => {
    if (!(await semaphore.acquire(ownerId))) throw new Failure('OVERLOADED');
    const bytes = Buffer.from(password, 'utf8');
    try {
      return await deriveKey(bytes, salt, iterations, KEY_BYTES, 'sha256');
    } finally {
      bytes.fill(0);
      semaphore.release(ownerId);
    }
  };
}
