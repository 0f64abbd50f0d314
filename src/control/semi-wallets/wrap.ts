import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Peppers } from '../pepper.ts';

/**
 * What is kept is wrapped once more, under a key of the server: who steals the database cannot even begin to guess
 * passwords. AES-256-GCM; the key is derived from the pepper, so that there is one secret to keep, for this purpose
 * alone, so that it tells nothing about the digests of API keys. Owner and address are authenticated besides: a row
 * that is copied to another owner or wallet does not open.
 *
 * Rotation: a new pepper is put beside the old one; from then on wrapping is done under the new one, and at the next
 * start every row is wrapped anew (kept-semi-wallets.ts), for which no password is needed. A pepper that rows still need
 * cannot be taken away: the start is refused (pepper-proof.ts). Without its pepper a wallet is lost.
 */

/** Bytes under the server's key. */
export type Wrapped = Readonly<{
  /** The pepper's version. */
  version: number;
  /** Nonce, ciphertext and tag, base64. */
  text: string;
}>;

const CIPHER = 'aes-256-gcm';
const PURPOSE = 'solway semi-custodial wallets';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What was kept cannot be opened: its pepper is not here, or it is damaged. */
export class WrapError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WrapError';
  }
}

const additionalData = (ownerId: string, address: string): Buffer =>
  Buffer.from(JSON.stringify([ownerId, address]));

const keyOf = (pepper: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', pepper, '', purpose, KEY_BYTES));

/** The server's keys, one for each pepper. */
export class ServerKeys {
  /** The version that wrapping is done under. */
  readonly current: number;
  readonly #keys: ReadonlyMap<number, Buffer>;

  /** @param purpose - other text gives keys that tell nothing about these. */
  constructor({ current, secrets }: Peppers, purpose: string = PURPOSE) {
    this.current = current;
    this.#keys = new Map([...secrets].map(([version, secret]) => [version, keyOf(secret, purpose)]));
  }

  /** Wraps text under the current key, for this owner and wallet alone. */
  wrap(text: string, ownerId: string, address: string): Wrapped {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key(this.current), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(additionalData(ownerId, address));
    const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return { version: this.current, text: Buffer.concat(parts).toString('base64') };
  }

  /** @throws WrapError */
  unwrap(wrapped: Wrapped, ownerId: string, address: string): string {
    const bytes = Buffer.from(wrapped.text, 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new WrapError('a wallet that was kept is damaged');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key(wrapped.version), nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(additionalData(ownerId, address));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      throw new WrapError('a wallet that was kept is damaged, or not of this owner');
    }
  }

  #key(version: number): Buffer {
    const key = this.#keys.get(version);
    if (key === undefined) throw new WrapError(`a wallet needs pepper version ${version}, which is not here`);
    return key;
  }
}
