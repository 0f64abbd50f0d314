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
  /** Keys held. Beyond it, expired ones make room; when there are none, new ones are left out. */
  keysMax?: number;
  /** Revoked keys that are remembered as such, the last ones. */
  revokedMax?: number;
  /** Unix milliseconds, to tell which keys have expired. Default the machine's. */
  now?: () => number;
}>;

/** What holds when nothing else is said. */
export const keyDirectoryOptions = { verifiedMax: 100_000, keysMax: 200_000, revokedMax: 10_000 } as const;

const PEPPER_MIN_BYTES = 16;

/** Stands in for a key that is not there, so that looking for it takes as long. */
const NOBODY = Buffer.alloc(32);
const NO_PEPPER = Buffer.alloc(32);

/**
 * Who asks: every living key in memory, by its public id. The store's changes are put in with `apply`; a request
 * is answered from memory alone. A key that is revoked, disabled, expired or was never there gets the same answer
 * after the same work. Of revoked keys only id and version stay, of the last ones: while the store is away, one
 * that is forgotten gets KEYS_UNAVAILABLE as any unknown one does.
 */
export class KeyDirectory {
  readonly #peppers: ReadonlyMap<number, Buffer>;
  readonly #records = new Map<KeyId, KeyRecord>();
  /** Revoked keys and the version at which they were: an older record must not bring them back. */
  readonly #revoked: Lru<KeyId, number>;
  readonly #keysMax: number;
  readonly #now: () => number;
  /**
   * SHA-256 of a credential → the record it was checked against. An entry counts only while the directory
   * still holds that very record, so every change of a key drops it.
   */
  readonly #verified: Lru<string, KeyRecord>;
  readonly #listeners = new Set<(record: KeyRecord) => void>();
  #storeReachable = false;
  #leftOut = 0;

  constructor({ peppers, now = Date.now, ...options }: KeyDirectoryOptions) {
    const { verifiedMax, keysMax, revokedMax } = { ...keyDirectoryOptions, ...options };
    if (peppers.size === 0) throw new RangeError('at least one pepper is needed');
    for (const [version, pepper] of peppers) {
      if (pepper.length < PEPPER_MIN_BYTES) throw new RangeError(`pepper ${version} is too short`);
    }
    this.#peppers = peppers;
    this.#verified = new Lru(verifiedMax);
    this.#revoked = new Lru(revokedMax);
    this.#keysMax = keysMax;
    this.#now = now;
  }

  /** How many keys are held. */
  get size(): number {
    return this.#records.size;
  }

  /** Keys for which there was no room. While it is not 0, an id that is not here may be one of theirs. */
  get leftOut(): number {
    return this.#leftOut;
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
      const known = this.#records.get(record.id)?.version ?? this.#revoked.get(record.id);
      if (known !== undefined && known >= record.version) continue;
      if (this.#take(record)) taken.push(record);
    }
    for (const record of taken) for (const listener of this.#listeners) listener(record);
    return taken;
  }

  /**
   * Tells of each record that is taken in from now on, once the directory holds it. A listener must not throw.
   * @returns what ends it.
   */
  onChange(listener: (record: KeyRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #take(record: KeyRecord): boolean {
    if (record.state === 'revoked') {
      this.#records.delete(record.id);
      this.#revoked.set(record.id, record.version);
      return true;
    }
    if (!this.#records.has(record.id) && !this.#hasRoom()) {
      this.#leftOut += 1;
      return false;
    }
    this.#records.set(record.id, record);
    return true;
  }

  #hasRoom(): boolean {
    // When some were left out already, looking through all keys again for each one more would take for ever.
    if (this.#records.size >= this.#keysMax && this.#leftOut === 0) this.#dropExpired();
    return this.#records.size < this.#keysMax;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const { id, expiresAt } of this.#records.values()) {
      if (expiresAt !== null && expiresAt <= now) this.#records.delete(id);
    }
  }

  /**
   * The key behind a credential, for one product.
   * @param nowMs - Unix milliseconds.
   * @throws Failure as `identify`, and UNAUTHORIZED_PRODUCT: a good key of another product.
   */
  authenticate(credential: string | null, product: Product, nowMs: number): KeyRecord {
    const record = this.identify(credential, nowMs);
    if (record.product !== product) throw new Failure('UNAUTHORIZED_PRODUCT');
    return record;
  }

  /**
   * The key behind a credential, of whatever product.
   * @param nowMs - Unix milliseconds.
   * @throws Failure MISSING_KEY, INVALID_KEY or KEYS_UNAVAILABLE (an unknown key while the store is away).
   */
  identify(credential: string | null, nowMs: number): KeyRecord {
    if (credential === null || credential === '') throw new Failure('MISSING_KEY');
    if (credential.length > API_KEY_LENGTH_MAX) throw new Failure('INVALID_KEY');
    const fingerprint = hash('sha256', credential, 'base64');
    const recalled = this.#recall(fingerprint);
    const record = recalled ?? this.#verify(credential);
    if (!isUsable(record, nowMs)) throw new Failure('INVALID_KEY');
    if (recalled === undefined) this.#verified.set(fingerprint, record);
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
    if (this.#revoked.get(id) !== undefined) return new Failure('INVALID_KEY');
    if (this.#leftOut > 0)
      return new Failure('KEYS_UNAVAILABLE', { cause: `no room was left for key ${id}` });
    return this.#storeReachable
      ? new Failure('INVALID_KEY')
      : new Failure('KEYS_UNAVAILABLE', { cause: `key ${id} is unknown and the store is away` });
  }
}

/** Whether a key may be used at this time, in Unix milliseconds. */
export function isUsable({ state, expiresAt }: KeyRecord, nowMs: number): boolean {
  if (state !== 'active' && state !== 'rotating') return false;
  return expiresAt === null || nowMs < expiresAt;
}
