import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { Turnstile } from '../../base/turnstile.ts';
import { Failure } from '../../protocol/errors.ts';

const deriveKey = promisify(pbkdf2);

/** Bytes of a secretbox key. */
const KEY_BYTES = 32;

/** Keys out of passwords, a few at a time: each takes a thread a good part of a second. */
export class Derivation {
  readonly #turns: Turnstile;
  readonly #waitingMax: number;
  #waiting = 0;

  /** @param placesMax - derivations at a time. @param queueMax - those that may wait besides. */
  constructor(placesMax: number, queueMax: number) {
    this.#turns = new Turnstile(placesMax);
    this.#waitingMax = placesMax + queueMax;
  }

  /**
   * PBKDF2-HMAC-SHA256 of the password's UTF-8, 32 bytes. Whoever gets the key fills it with zeros after use.
   * @throws Failure OVERLOADED when too many wait.
   */
  async keyOf(password: string, salt: Uint8Array, iterations: number): Promise<Buffer> {
    if (this.#waiting >= this.#waitingMax) throw new Failure('OVERLOADED');
    this.#waiting++;
    const bytes = Buffer.from(password, 'utf8');
    try {
      return await this.#turns.run(() => deriveKey(bytes, salt, iterations, KEY_BYTES, 'sha256'));
    } finally {
      bytes.fill(0);
      this.#waiting--;
    }
  }
}
