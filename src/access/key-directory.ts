import { hash, timingSafeEqual } from 'node:crypto';
import { Lru } from '../base/lru.ts';
import { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import { API_KEY_LENGTH_MAX, digestApiKey, type ParsedApiKey, parseApiKey } from './api-key.ts';
import type { KeyId, KeyRecord } from './key-record.ts';

export type KeyDirectoryOptions = Readonly<{
  /** The peppers that are accepted, by version; several while one replaces another. Each 16 bytes or more. */
  peppers: ReadonlyMap<number, Buffer>;
  /** Keys whose secret was checked and need not be checked again. */
  verifiedMax?: number;
}>;

const PEPPER_MIN_BYTES = 16;

/** Stands in for a key that is not there, so that looking for it takes as long. */
const NOBODY = Buffer.alloc(32);
const NO_PEPPER = Buffer.alloc(32);

/**
 * Who asks: every key in memory, by its public id. The store's changes are put in with `apply`; a request is
 * answered from memory alone. A key that is revoked, disabled, expired or was never there gets the same answer
 * after the same work.
 */
export class KeyDirectory {
  readonly #peppers: ReadonlyMap<number, Buffer>;
  readonly #records = new Map<KeyId, KeyRecord>();
  /**
   * SHA-256 of a credential → the record it was checked against. An entry counts only while the directory
   * still holds that very record, so every change of a key drops it.
   */
  readonly #verified: Lru<string, KeyRecord>;
  #storeReachable = false;
  #version = 0;

  constructor({ peppers, verifiedMax = 100_000 }: KeyDirectoryOptions) {
    if (peppers.size === 0) throw new RangeError('at least one pepper is needed');
    for (const [version, pepper] of peppers) {
      if (pepper.length < PEPPER_MIN_BYTES) throw new RangeError(`pepper ${version} is too short`);
    }
    this.#peppers = peppers;
    this.#verified = new Lru(verifiedMax);
  }

  /** How many keys there are, in whatever state. */
  get size(): number {
    return this.#records.size;
  }

  /** The highest version that was applied: where a poll for changes goes on. */
  get version(): number {
    return this.#version;
  }

  /** Whether an id that is not here is known not to exist. */
  get storeReachable(): boolean {
    return this.#storeReachable;
  }

  /** Says whether the directory is complete. While it is not, unknown keys get KEYS_UNAVAILABLE. */
  setStoreReachable(reachable: boolean): void {
    this.#storeReachable = reachable;
  }

  /** The key of a public id. */
  find(id: KeyId): KeyRecord | undefined {
    return this.#records.get(id);
  }

  /**
   * Takes in new and changed keys. A record that is not newer than the one held is ignored, so that a look-up
   * that comes in late cannot undo a revocation.
   * @returns the records that were taken in.
   */
  apply(records: Iterable<KeyRecord>): KeyRecord[] {
    const taken: KeyRecord[] = [];
    for (const record of records) {
      const held = this.#records.get(record.id);
      if (held !== undefined && held.version >= record.version) continue;
      this.#records.set(record.id, record);
      this.#version = Math.max(this.#version, record.version);
      taken.push(record);
    }
    return taken;
  }

  /**
   * The key behind a credential.
   * @param nowMs - Unix milliseconds.
   * @throws Failure MISSING_KEY, INVALID_KEY, UNAUTHORIZED_PRODUCT (a good key of another product) or
   * KEYS_UNAVAILABLE (an unknown key while the store is away).
   */
  authenticate(credential: string | null, product: Product, nowMs: number): KeyRecord {
    if (credential === null || credential === '') throw new Failure('MISSING_KEY');
    if (credential.length > API_KEY_LENGTH_MAX) throw new Failure('INVALID_KEY');
    const fingerprint = hash('sha256', credential, 'base64');
    const recalled = this.#recall(fingerprint);
    const record = recalled ?? this.#verify(credential);
    if (!isUsable(record, nowMs)) throw new Failure('INVALID_KEY');
    if (recalled === undefined) this.#verified.set(fingerprint, record);
    if (record.product !== product) throw new Failure('UNAUTHORIZED_PRODUCT');
    return record;
  }

  #recall(fingerprint: string): KeyRecord | undefined {
    const record = this.#verified.get(fingerprint);
    return record !== undefined && this.#records.get(record.id) === record ? record : undefined;
  }

  #verify(credential: string): KeyRecord {
    const parsed = parseApiKey(credential);
    if (typeof parsed === 'string') throw new Failure('INVALID_KEY');
    const record = this.#records.get(parsed.id);
    const pepper = record === undefined ? NO_PEPPER : this.#peppers.get(record.pepperVersion);
    const digest = digestApiKey(credential, pepper ?? NO_PEPPER);
    const matches = timingSafeEqual(digest, record?.digest ?? NOBODY);
    if (record === undefined) throw this.#unknown(parsed);
    if (pepper === undefined) throw new Failure('KEYS_UNAVAILABLE');
    if (!matches) throw new Failure('INVALID_KEY');
    return record;
  }

  #unknown({ id }: ParsedApiKey): Failure {
    return this.#storeReachable
      ? new Failure('INVALID_KEY')
      : new Failure('KEYS_UNAVAILABLE', { cause: `key ${id} is unknown and the store is away` });
  }
}

function isUsable({ state, expiresAt }: KeyRecord, nowMs: number): boolean {
  if (state !== 'active' && state !== 'rotating') return false;
  return expiresAt === null || nowMs < expiresAt;
}
