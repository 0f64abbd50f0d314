import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { PerKeySemaphore } from '../../base/concurrency/per-key-semaphore.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SemiWalletLimits } from './limits.ts';

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
