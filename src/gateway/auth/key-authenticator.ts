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
import { KeyState, type LoadedKey } from './key-state.ts';

export const keyAuthenticatorOptions = {
  /** Above it, expired keys are dropped; if there are none, new keys are not loaded. */
  keysMax: 200_000,
  /** Most recent first. While the store is unreachable, a forgotten one gets KEYS_UNAVAILABLE. */
  revokedMax: 10_000,
};

type KeyAuthenticatorOptions = Partial<typeof keyAuthenticatorOptions> &
  Readonly<{
    /** By version, several during a rotation. Each at least 16 bytes. */
    peppers: ReadonlyMap<number, Buffer>;
    /** Unix milliseconds. */
    now?: () => number;
  }>;

const PEPPER_MIN_BYTES = 16;
const RULES_MAX = 1_000;

/** Used for unknown keys, so that their verification takes as long. */
const DUMMY_DIGEST = Buffer.alloc(32);
const DUMMY_PEPPER = Buffer.alloc(32);

/** `verifiedHash`: SHA-256 of the credential that was verified. Both are null before the first use. */
type KeyEntry = { record: LoadedKey; verifiedHash: string | null; cacheIndex: number | null };

/**
 * All active keys in memory, fed from the store by `apply`; requests never wait for the store. Revoked,
 * disabled, expired and unknown keys get the same response after the same work.
 */
export class KeyAuthenticator {
  readonly #peppers: ReadonlyMap<number, Buffer>;
  /** An entry is replaced with every change of its key, so that its secret is verified again. */
  readonly #entries = new Map<KeyId, KeyEntry>();
  /** Holds valid keys only: an invalid one costs the same work each time. */
  readonly #credentialCache = new VerifiedCredentialCache<LoadedKey>();
  readonly #limits = new Map<string, PlanLimits>();
  readonly #rules = new Lru<string, KeyRules>(RULES_MAX);
  /** Versions of revoked keys: an older record must not restore one. */
  readonly #revoked: Lru<KeyId, number>;
  readonly #keysMax: number;
  readonly #now: () => number;
  readonly #listeners = new Set<(record: KeyRecord) => void>();
  #storeReachable = false;
  /** At most `keysMax` ids; beyond that `#hasOverflowed` is set. */
  readonly #dropped = new Set<KeyId>();
  #hasOverflowed = false;

  constructor({ peppers, now = Date.now, ...options }: KeyAuthenticatorOptions) {
    const { keysMax, revokedMax } = { ...keyAuthenticatorOptions, ...options };
    if (peppers.size === 0) throw new RangeError('at least one pepper is needed');
    for (const [version, pepper] of peppers) {
      if (pepper.length < PEPPER_MIN_BYTES) throw new RangeError(`pepper ${version} is too short`);
    }
    this.#peppers = peppers;
    this.#revoked = new Lru(revokedMax);
    this.#keysMax = keysMax;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Keys not loaded because the key limit is reached. They are loaded with their next change. */
  get dropped(): number {
    return this.#dropped.size;
  }

  /** Whether an unknown id certainly does not exist. */
  get storeReachable(): boolean {
    return this.#storeReachable;
  }

  /** While not all keys are loaded, unknown keys get KEYS_UNAVAILABLE. */
  setStoreReachable(reachable: boolean): void {
    this.#storeReachable = reachable;
  }

  find(id: KeyId): LoadedKey | undefined {
    return this.#entries.get(id)?.record;
  }

  /** A removed key is returned unchanged. */
  current(record: LoadedKey): LoadedKey {
    return this.find(record.id) ?? record;
  }

  /** Skips records that are not newer: a late lookup must not undo a revocation. @returns those applied. */
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

  /** @param listener - called with applied records; must not throw. @returns a function that removes it. */
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

  #intern(record: LoadedKey): KeyRecord {
    const existing = this.#limits.get(record.planId);
    const isInterned = existing !== undefined && areEqual(existing, record.limits);
    if (!isInterned) this.#limits.set(record.planId, record.limits);
    const limits = isInterned ? existing : record.limits;
    // The runtime state of the given record belongs to its previous version.
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
    // While keys are missing, scanning all keys for each further one would take too long.
    if (this.#entries.size >= this.#keysMax && this.#dropped.size === 0) this.#dropExpired();
    return this.#entries.size < this.#keysMax;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [id, { record }] of this.#entries) {
      if (record.expiresAt !== null && record.expiresAt <= now) this.#remove(id);
    }
  }

  /** @param nowMs - Unix time. @throws Failure MISSING_KEY, INVALID_KEY, KEYS_UNAVAILABLE */
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
    // After an overflow, any unknown key may be one that was not loaded.
    if (this.#dropped.has(id) || this.#hasOverflowed)
      return new Failure('KEYS_UNAVAILABLE', { cause: `key ${id} is not loaded: key limit reached` });
    return this.#storeReachable
      ? new Failure('INVALID_KEY')
      : new Failure('KEYS_UNAVAILABLE', { cause: `key ${id} is unknown and the store is unreachable` });
  }
}

/** Cause for a key that was valid once: it is no guess, so it does not count as failed authentication. */
export const KEY_NO_LONGER_VALID = 'the key is no longer valid';

const isUnrestricted = ({ networks, cidrs, origins, methods }: KeyRules): boolean =>
  networks === null && cidrs === null && origins === null && methods === null;

const limitNames = (Object.keys(defaultPlanLimits) as (keyof PlanLimits)[]).filter(
  (name) => name !== 'prices',
);

/** Copied at first use, the fields of the request path first, so that keys in use are close together in memory. */
function withKeyState(record: KeyRecord): LoadedKey {
  const { product, status, expiresAt, rules, limits, familyId, addressPerSecond, monotonicReads } = record;
  const keyState = new KeyState();
  return {
    ...{ product, status, expiresAt, rules, limits, keyState, familyId, addressPerSecond, monotonicReads },
    ...record,
    keyState,
  };
}

/** Allocates nothing: it runs for each key at startup. */
function areEqual(one: PlanLimits, other: PlanLimits): boolean {
  for (const name of limitNames) if (one[name] !== other[name]) return false;
  for (const method in one.prices) if (one.prices[method] !== other.prices[method]) return false;
  for (const method in other.prices) if (!Object.hasOwn(one.prices, method)) return false;
  return true;
}

/** @param nowMs - Unix time. */
export function isUsable({ status, expiresAt }: KeyRecord, nowMs: number): boolean {
  if (status !== 'active' && status !== 'rotating') return false;
  return expiresAt === null || nowMs < expiresAt;
}

/** A power of two, more than keys are in use at once. An entry costs about 200 bytes. */
const ENTRIES_MAX = 65_536;
/** Associativity. With one way, every seventh of 10,000 keys in use would evict another. */
const WAYS = 4;
/** Tag, credential and value, adjacent in memory. */
const FIELDS_PER_ENTRY = 3;
const FIELDS_PER_SET = WAYS * FIELDS_PER_ENTRY;

type Field<Found> = number | string | Found | null;

/** Hashes the last characters, which are a checksum of the whole credential and so evenly distributed. */
function tagOf(credential: string): number {
  let tag = 0;
  for (let i = credential.length - 5; i < credential.length; i++) tag = tag * 31 + credential.charCodeAt(i);
  return tag & (2 ** 30 - 1);
}

/**
 * Set-associative. The user removes an entry when it changes and checks expiry on each hit. The comparison
 * takes no constant time, but each wrong guess is fully verified and counts as a failed authentication.
 */
export class VerifiedCredentialCache<Found> {
  readonly #fields: Field<Found>[] = new Array<null>(ENTRIES_MAX * FIELDS_PER_ENTRY).fill(null);
  /** Rotates with each eviction. */
  #nextVictim = 0;

  find(credential: string): Found | null {
    const tag = tagOf(credential);
    const first = (tag & (ENTRIES_MAX / WAYS - 1)) * FIELDS_PER_SET;
    for (let index = first; index < first + FIELDS_PER_SET; index += FIELDS_PER_ENTRY) {
      // The tag is compared first, because the text is elsewhere in memory.
      if (this.#fields[index] !== tag || this.#fields[index + 1] !== credential) continue;
      return this.#fields[index + 2] as Found;
    }
    return null;
  }

  /** @returns the index of the entry, for `remove`. */
  put(credential: string, found: Found): number {
    const tag = tagOf(credential);
    const index = this.#indexFor((tag & (ENTRIES_MAX / WAYS - 1)) * FIELDS_PER_SET);
    this.#fields[index] = tag;
    this.#fields[index + 1] = credential;
    this.#fields[index + 2] = found;
    return index;
  }

  /** Removes an entry if its index still holds it. */
  remove(index: number, found: Found): void {
    if (this.#fields[index + 2] === found) this.#fields.fill(null, index, index + FIELDS_PER_ENTRY);
  }

  #indexFor(first: number): number {
    for (let index = first; index < first + FIELDS_PER_SET; index += FIELDS_PER_ENTRY)
      if (this.#fields[index] === null) return index;
    this.#nextVictim = (this.#nextVictim + 1) % WAYS;
    return first + this.#nextVictim * FIELDS_PER_ENTRY;
  }
}
