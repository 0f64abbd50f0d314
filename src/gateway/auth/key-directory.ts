import { hash, timingSafeEqual } from 'node:crypto';
import { Lru } from '../../base/cache/lru.ts';
import { Failure } from '../../protocol/errors.ts';
import {
  API_KEY_LENGTH_MAX,
  digestApiKey,
  type ParsedApiKey,
  parseApiKey,
  uncheckedKeyId,
} from './api-key.ts';
import {
  defaultPlanLimits,
  type KeyId,
  type KeyRecord,
  type KeyRules,
  type PlanLimits,
  unrestrictedRules,
} from './key-record.ts';
import { createKeyState, type LoadedKey } from './key-state.ts';
import { VerifiedCredentialCache } from './verified-credential-cache.ts';

export type KeyDirectoryOptions = Readonly<{
  /** The peppers that are accepted, by version; several while one replaces another. Each 16 bytes or more. */
  peppers: ReadonlyMap<number, Buffer>;
  /** Keys held. Beyond it, expired ones make room; when there are none, new ones are left out. */
  keysMax?: number;
  /** Revoked keys that are remembered as such, the last ones. */
  revokedMax?: number;
  /** Unix milliseconds, to tell which keys have expired. Default the machine's. */
  now?: () => number;
}>;

/** What holds when nothing else is said. */
export const keyDirectoryOptions = { keysMax: 200_000, revokedMax: 10_000 } as const;

const PEPPER_MIN_BYTES = 16;
/** Rules that are remembered in order to be shared; the last ones. */
const RULES_MAX = 1_000;

/** Stands in for a key that is not there, so that looking for it takes as long. */
const DUMMY_DIGEST = Buffer.alloc(32);
const DUMMY_PEPPER = Buffer.alloc(32);

/**
 * A key that is held, the SHA-256 of the credential that was found to be it, and the place among those that are known
 * where it was put last; null: none was yet.
 */
type KeyEntry = { record: LoadedKey; verifiedHash: string | null; cacheIndex: number | null };

/**
 * Who asks: every living key in memory, by its public id. The store's changes are put in with `apply`; a request
 * is answered from memory alone. A key that is revoked, disabled, expired or was never there gets the same answer
 * after the same work. Of revoked keys only id and version stay, of the last ones: while the store is away, one
 * that is forgotten gets KEYS_UNAVAILABLE as any unknown one does. A key takes about 1,000 bytes with
 * a million of them held (`npm run bench -- access`).
 */
export class KeyDirectory {
  readonly #peppers: ReadonlyMap<number, Buffer>;
  /** Replaced with every change of a key, so that its secret is checked anew. */
  readonly #entries = new Map<KeyId, KeyEntry>();
  /** Of good keys only, as they are now but for their end: a wrong one costs as much each time. */
  readonly #credentialCache = new VerifiedCredentialCache<LoadedKey>();
  /** What records of a plan have in common. */
  readonly #limits = new Map<string, PlanLimits>();
  /** Rules that many keys have, as text: those of one application. */
  readonly #rules = new Lru<string, KeyRules>(RULES_MAX);
  /** Revoked keys and the version at which they were: an older record must not bring them back. */
  readonly #revoked: Lru<KeyId, number>;
  readonly #keysMax: number;
  readonly #now: () => number;
  readonly #listeners = new Set<(record: KeyRecord) => void>();
  #storeReachable = false;
  /** As many as keys may be held; `#isLost` once there were more. */
  readonly #dropped = new Set<KeyId>();
  #hasOverflowed = false;

  constructor({ peppers, now = Date.now, ...options }: KeyDirectoryOptions) {
    const { keysMax, revokedMax } = { ...keyDirectoryOptions, ...options };
    if (peppers.size === 0) throw new RangeError('at least one pepper is needed');
    for (const [version, pepper] of peppers) {
      if (pepper.length < PEPPER_MIN_BYTES) throw new RangeError(`pepper ${version} is too short`);
    }
    this.#peppers = peppers;
    this.#revoked = new Lru(revokedMax);
    this.#keysMax = keysMax;
    this.#now = now;
  }

  /** How many keys are held. */
  get size(): number {
    return this.#entries.size;
  }

  /** Keys for which there was no room, as far as they are counted; they come in with their next change. */
  get dropped(): number {
    return this.#dropped.size;
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
  find(id: KeyId): LoadedKey | undefined {
    return this.#entries.get(id)?.record;
  }

  /** A key as it is now: its plan and its rules may have changed since it was found. One that has ended, as it was. */
  current(record: LoadedKey): LoadedKey {
    return this.find(record.id) ?? record;
  }

  /**
   * Takes in new and changed keys. A record that is not newer than the one held is ignored, so that a look-up
   * that comes in late cannot undo a revocation.
   * @returns the records that were taken in.
   */
  apply(records: Iterable<KeyRecord>): KeyRecord[] {
    const applied: KeyRecord[] = [];
    for (const record of records) {
      const existing = this.find(record.id)?.version ?? this.#revoked.get(record.id);
      if (existing !== undefined && existing >= record.version) continue;
      if (this.#insert(record)) applied.push(record);
    }
    for (const record of applied) for (const listener of this.#listeners) listener(record);
    return applied;
  }

  /**
   * Tells of each record that is taken in from now on, once the directory holds it. A listener must not throw.
   * @returns what ends it.
   */
  onChange(listener: (record: KeyRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #insert(record: KeyRecord): boolean {
    if (record.status === 'revoked') {
      this.#remove(record.id);
      this.#dropped.delete(record.id);
      this.#revoked.set(record.id, record.version);
      return true;
    }
    if (!this.#entries.has(record.id) && !this.#hasCapacity()) {
      this.#drop(record.id);
      return false;
    }
    const isInUse = this.find(record.id)?.keyState !== undefined;
    this.#remove(record.id);
    this.#dropped.delete(record.id);
    const interned = this.#intern(record);
    const entry = {
      record: isInUse ? withKeyState(interned) : interned,
      verifiedHash: null,
      cacheIndex: null,
    };
    this.#entries.set(record.id, entry);
    return true;
  }

  #drop(id: KeyId): void {
    if (this.#dropped.size < this.#keysMax) this.#dropped.add(id);
    else if (!this.#dropped.has(id)) this.#hasOverflowed = true;
  }

  #remove(id: KeyId): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    if (entry.cacheIndex !== null) this.#credentialCache.remove(entry.cacheIndex, entry.record);
    this.#entries.delete(id);
  }

  /** Most keys of a plan have the same limits, and many the same rules or none: they need not be there for each. */
  #intern(record: LoadedKey): KeyRecord {
    const existing = this.#limits.get(record.planId);
    const isInterned = existing !== undefined && areEqual(existing, record.limits);
    if (!isInterned) this.#limits.set(record.planId, record.limits);
    const limits = isInterned ? existing : record.limits;
    // A seat that comes with it is of what it was before.
    const { keyState: _, ...fresh } = record;
    return { ...fresh, limits, rules: this.#internRules(record.rules) };
  }

  #internRules(rules: KeyRules): KeyRules {
    if (isUnrestricted(rules)) return unrestrictedRules;
    const { networks, cidrs, origins, methods } = rules;
    const text = JSON.stringify([networks, cidrs, origins, methods]);
    const existing = this.#rules.get(text);
    if (existing === undefined) this.#rules.set(text, rules);
    return existing ?? rules;
  }

  #hasCapacity(): boolean {
    // When some were left out already, looking through all keys again for each one more would take for ever.
    if (this.#entries.size >= this.#keysMax && this.#dropped.size === 0) this.#dropExpired();
    return this.#entries.size < this.#keysMax;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [id, { record }] of this.#entries) {
      if (record.expiresAt !== null && record.expiresAt <= now) this.#remove(id);
    }
  }

  /**
   * The key behind a credential, of whatever product.
   * @param nowMs - Unix milliseconds.
   * @throws Failure MISSING_KEY, INVALID_KEY or KEYS_UNAVAILABLE (an unknown key while the store is away).
   */
  authenticate(credential: string | null, nowMs: number): LoadedKey {
    if (credential === null || credential === '') throw new Failure('MISSING_KEY');
    if (credential.length > API_KEY_LENGTH_MAX) throw new Failure('INVALID_KEY');
    const cached = this.#credentialCache.find(credential);
    if (cached !== null && isUsable(cached, nowMs)) return cached;
    const fingerprint = hash('sha256', credential, 'binary');
    const entry = this.#entries.get(uncheckedKeyId(credential));
    const isVerified = entry?.verifiedHash === fingerprint;
    const record = isVerified ? entry.record : this.#verify(credential, entry?.record);
    if (!isUsable(record, nowMs)) throw new Failure('INVALID_KEY', { cause: KEY_NO_LONGER_VALID });
    if (entry === undefined) return record;
    if (!isVerified) entry.verifiedHash = fingerprint;
    if (record.keyState === undefined) entry.record = withKeyState(record);
    entry.cacheIndex = this.#credentialCache.put(credential, entry.record);
    return entry.record;
  }

  /** @param record - of the id that stands in the credential. */
  #verify(credential: string, record: LoadedKey | undefined): LoadedKey {
    const parsed = parseApiKey(credential);
    if (typeof parsed === 'string') throw new Failure('INVALID_KEY');
    const pepper = record === undefined ? DUMMY_PEPPER : this.#peppers.get(record.pepperVersion);
    const digest = digestApiKey(credential, pepper ?? DUMMY_PEPPER);
    const matches = timingSafeEqual(digest, record?.digest ?? DUMMY_DIGEST);
    if (record === undefined) throw this.#unknown(parsed);
    if (pepper === undefined) throw new Failure('KEYS_UNAVAILABLE');
    if (!matches) throw new Failure('INVALID_KEY');
    return record;
  }

  #unknown({ id }: ParsedApiKey): Failure {
    if (this.#revoked.get(id) !== undefined)
      return new Failure('INVALID_KEY', { cause: KEY_NO_LONGER_VALID });
    // Of those that were not counted any may be it.
    if (this.#dropped.has(id) || this.#hasOverflowed)
      return new Failure('KEYS_UNAVAILABLE', { cause: `no room was left for key ${id}` });
    return this.#storeReachable
      ? new Failure('INVALID_KEY')
      : new Failure('KEYS_UNAVAILABLE', { cause: `key ${id} is unknown and the store is away` });
  }
}

/** The cause of a refusal of a key that was good once: whoever sends it has forgotten to change it, and guesses nothing. */
export const KEY_NO_LONGER_VALID = 'the key was good once';

const isUnrestricted = ({ networks, cidrs, origins, methods }: KeyRules): boolean =>
  networks === null && cidrs === null && origins === null && methods === null;

const limitNames = (Object.keys(defaultPlanLimits) as (keyof PlanLimits)[]).filter(
  (name) => name !== 'prices',
);

/**
 * A key gets its seat with its first use, and with it is made anew: so those in use lie together in memory, and not each
 * on a page of its own among all that are held. What each request looks at lies in front.
 */
function withKeyState(record: KeyRecord): LoadedKey {
  const { product, status, expiresAt, rules, limits, familyId, addressPerSecond, monotonicReads } = record;
  const keyState = createKeyState();
  return {
    ...{ product, status, expiresAt, rules, limits, keyState, familyId, addressPerSecond, monotonicReads },
    ...record,
    keyState,
  };
}

/** Asked for each key at the start, so that nothing is made for it. */
function areEqual(one: PlanLimits, other: PlanLimits): boolean {
  for (const name of limitNames) if (one[name] !== other[name]) return false;
  for (const method in one.prices) if (one.prices[method] !== other.prices[method]) return false;
  for (const method in other.prices) if (!Object.hasOwn(one.prices, method)) return false;
  return true;
}

/** Whether a key may be used at this time, in Unix milliseconds. */
export function isUsable({ status, expiresAt }: KeyRecord, nowMs: number): boolean {
  if (status !== 'active' && status !== 'rotating') return false;
  return expiresAt === null || nowMs < expiresAt;
}
