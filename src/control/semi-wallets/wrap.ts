import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Peppers } from '../pepper.ts';

/**
 * Encrypts stored secrets with a server key derived from the pepper (AES-256-GCM), so that a stolen database
 * does not allow offline guessing. Purpose, owner and address are authenticated: a row copied elsewhere does
 * not decrypt. With a new pepper next to the old one, the next start rewraps all rows without passwords.
 */

export type Wrapped = Readonly<{
  /** Version of the pepper. */
  version: number;
  /** Nonce, ciphertext and tag, base64. */
  text: string;
}>;

const CIPHER = 'aes-256-gcm';
const PURPOSE = 'solway semi-custodial wallets';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The pepper is missing or the data is corrupt. */
export class WrapError extends Error {
  override name = 'WrapError';
}

const additionalData = (ownerId: string, address: string): Buffer =>
  Buffer.from(JSON.stringify([ownerId, address]));

const keyOf = (pepper: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', pepper, '', purpose, KEY_BYTES));

/** Server keys, one per pepper. */
export class ServerKeys {
  /** Version for new data. */
  readonly current: number;
  readonly #keys: ReadonlyMap<number, Buffer>;

  /** @param purpose - separates keys of different uses. */
  constructor({ current, secrets }: Peppers, purpose: string = PURPOSE) {
    this.current = current;
    this.#keys = new Map([...secrets].map(([version, secret]) => [version, keyOf(secret, purpose)]));
  }

  /** Bound to owner and address. */
  wrap(text: string, ownerId: string, address: string): Wrapped {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key(this.current), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(additionalData(ownerId, address));
    const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return { version: this.current, text: Buffer.concat(parts).toString('base64') };
  }

  unwrap(wrapped: Wrapped, ownerId: string, address: string): string {
    const bytes = Buffer.from(wrapped.text, 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new WrapError('a stored wallet is corrupt');
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
      throw new WrapError('a stored wallet is corrupt or belongs to another owner');
    }
  }

  #key(version: number): Buffer {
    const key = this.#keys.get(version);
    if (key === undefined) throw new WrapError(`a wallet needs pepper version ${version}, which is missing`);
    return key;
  }
}

/** Columns of a sealed value. */
export type Sealed = Readonly<{ sealed: string; pepper_version: number }>;

/** Encrypts JSON values, so that a stolen database does not reveal them. */
export class JsonSeal<Value> {
  readonly #keys: ServerKeys;

  constructor(peppers: Peppers, purpose: string) {
    this.#keys = new ServerKeys(peppers, purpose);
  }

  get current(): number {
    return this.#keys.current;
  }

  /** Bound to owner and name: a row copied to another one does not decrypt. */
  seal(value: Value, ownerId: string, name: string): Sealed {
    const { text, version } = this.#keys.wrap(JSON.stringify(value), ownerId, name);
    return { sealed: text, pepper_version: version };
  }

  /** @returns null if the pepper is missing or the data is corrupt. */
  open({ sealed, pepper_version: version }: Sealed, ownerId: string, name: string): Value | null {
    try {
      return JSON.parse(this.#keys.unwrap({ text: sealed, version }, ownerId, name)) as Value;
    } catch (error) {
      if (error instanceof WrapError) return null;
      throw error;
    }
  }
}
