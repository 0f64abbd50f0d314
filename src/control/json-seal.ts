import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Peppers } from './pepper.ts';

/** Columns that store a sealed value. */
export type Sealed = Readonly<{
  /** Nonce, ciphertext and tag, base64. */
  sealed: string;
  pepper_version: number;
}>;

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The pepper is missing, or the data is corrupt or belongs to another owner. */
class SealError extends Error {
  override name = 'SealError';
}

const additionalData = (ownerId: string, name: string): Buffer =>
  Buffer.from(JSON.stringify([ownerId, name]));

const keyOf = (pepper: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', pepper, '', purpose, KEY_BYTES));

/**
 * Encrypts JSON values with keys derived from the peppers, so that a stolen database does not reveal them.
 * Each value is bound to its purpose, owner and name: a copy in another row cannot be decrypted.
 */
export class JsonSeal<Value> {
  /** Pepper version used for new values. */
  readonly current: number;
  readonly #keys: ReadonlyMap<number, Buffer>;

  /** @param purpose - what the values are used for; each purpose has separate keys. */
  constructor({ current, secrets }: Peppers, purpose: string) {
    this.current = current;
    this.#keys = new Map([...secrets].map(([version, secret]) => [version, keyOf(secret, purpose)]));
  }

  seal(value: Value, ownerId: string, name: string): Sealed {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key(this.current), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(additionalData(ownerId, name));
    const parts = [nonce, cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()];
    return { sealed: Buffer.concat(parts).toString('base64'), pepper_version: this.current };
  }

  /** Returns null if the pepper is missing, or the data is corrupt or belongs to another owner. */
  open(row: Sealed, ownerId: string, name: string): Value | null {
    try {
      return this.openOrThrow(row, ownerId, name);
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }

  openOrThrow({ sealed, pepper_version }: Sealed, ownerId: string, name: string): Value {
    const bytes = Buffer.from(sealed, 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealError('a sealed value is corrupt');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key(pepper_version), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(additionalData(ownerId, name));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8')) as Value;
    } catch {
      throw new SealError('a sealed value is corrupt or belongs to another owner');
    }
  }

  #key(version: number): Buffer {
    const key = this.#keys.get(version);
    if (key === undefined)
      throw new SealError(`pepper version ${version} is missing; a sealed value needs it`);
    return key;
  }
}
