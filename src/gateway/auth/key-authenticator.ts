import { hash, timingSafeEqual } from 'node:crypto';
import { Lru } from '../../base/cache/lru.ts';
import { Failure } from '../../protocol/errors.ts';
import { API_KEY_LENGTH_MAX, digestApiKey, parseApiKey, uncheckedKeyId } from './api-key.ts';
import type { JwtVerifier, VerifiedToken } from './jwt.ts';
import {
  defaultPlanLimits,
  type KeyId,
  type KeyRecord,
  type KeyRules,
  type PlanLimits,
  unrestrictedRules,
} from './key-record.ts';
import { KeyState, type LoadedKey } from './key-state.ts';
import { isPlaygroundTokenOf, type PlaygroundToken, parsePlaygroundToken } from './playground-token.ts';

export const keyAuthenticatorOptions = {
  /** At this limit, expired keys are dropped; if none have expired, new keys are not loaded. */
  keysMax: 200_000,
  /** Maximum number of revoked keys to remember. If the store is unreachable, a forgotten key gets KEYS_UNAVAILABLE. */
  revokedMax: 10_000,
};

type KeyAuthenticatorOptions = Partial<typeof keyAuthenticatorOptions> &
  Readonly<{
    /** Peppers by version; several during a rotation. Each has at least 16 bytes. */
    peppers: ReadonlyMap<number, Buffer>;
    /** Verifies tokens that stand for a key; null: no tokens are accepted. */
    jwt?: JwtVerifier<KeyId> | null;
    /** Returns Unix milliseconds. */
    now?: () => number;
  }>;

const PEPPER_MIN_BYTES = 16;
const RULES_MAX = 1_000;

/** Used for unknown keys, so that verifying them takes as long as verifying known keys. */
const DUMMY_DIGEST = Buffer.alloc(32);
const DUMMY_PEPPER = Buffer.alloc(32);

/** `verifiedHash` is the SHA-256 of the verified credential. It and `cacheIndex` are null until the first use. */
type KeyEntry = { record: LoadedKey; verifiedHash: string | null; cacheIndex: number | null };

/**
 * Holds all unrevoked keys in memory, so that requests never wait for the store. `apply` loads the keys.
 * Revoked, disabled, expired and unknown keys get the same response after the same amount of work.
 */
export class KeyAuthenticator {
  readonly #peppers: ReadonlyMap<number, Buffer>;
  readonly #jwt: JwtVerifier<KeyId> | null;
  /** Every change to a key replaces its entry, so that the secret is verified again. */
  readonly #entries = new Map<KeyId, KeyEntry>();
  /** Holds valid credentials only; an invalid credential is verified in full each time. */
  readonly #credentialCache = new VerifiedCredentialCache<LoadedKey>();
  /** Records that end with their token, so that requests need not copy them. */
  readonly #tokenKeys = new WeakMap<VerifiedToken<KeyId>, LoadedKey>();
  readonly #limits = new Map<string, PlanLimits>();
  readonly #rules = new Lru<string, KeyRules>(RULES_MAX);
  /** Revoked keys, so that an older record cannot restore one, and its requests count for its customer. */
  readonly #revoked: Lru<KeyId, KeyRecord>;
  readonly #keysMax: number;
  readonly #now: () => number;
  readonly #listeners = new Set<(record: KeyRecord) => void>();
  #storeReachable = false;
  /** Ids of keys not loaded because of the key limit. At most `keysMax` ids; above this, `#hasOverflowed` is set. */
  readonly #dropped = new Set<KeyId>();
  #hasOverflowed = false;

  constructor({ peppers, jwt = null, now = Date.now, ...options }: KeyAuthenticatorOptions) {
    const { keysMax, revokedMax } = { ...keyAuthenticatorOptions, ...options };
    if (peppers.size === 0) throw new RangeError('at least one pepper is needed');
    for (const [version, pepper] of peppers) {
      if (pepper.length < PEPPER_MIN_BYTES) throw new RangeError(`pepper ${version} is too short`);
    }
    this.#peppers = peppers;
    this.#jwt = jwt;
    this.#revoked = new Lru(revokedMax);
    this.#keysMax = keysMax;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Number of keys not loaded because of the key limit. Loading such a key is retried when the key next changes. */
  get dropped(): number {
    return this.#dropped.size;
  }

  /** While false, an unknown id may belong to a key that has not been loaded yet. */
  get storeReachable(): boolean {
    return this.#storeReachable;
  }

  /** @param reachable - while false, unknown keys get KEYS_UNAVAILABLE instead of INVALID_KEY. */
  setStoreReachable(reachable: boolean): void {
    this.#storeReachable = reachable;
  }

  find(id: KeyId): LoadedKey | undefined {
    return this.#entries.get(id)?.record;
  }

  /** Returns the latest version of a key, or the given record if the key was removed. */
  current(record: LoadedKey): LoadedKey {
    return this.find(record.id) ?? record;
  }

  /** Applies all but outdated records, so that a late lookup cannot undo a revocation. @returns the applied records. */
  apply(records: Iterable<KeyRecord>): KeyRecord[] {
    const applied: KeyRecord[] = [];
    for (const record of records) {
      const existing = (this.find(record.id) ?? this.#revoked.get(record.id))?.version;
      if (existing !== undefined && existing >= record.version) continue;
      if (this.#insert(record)) applied.push(record);
    }
    for (const record of applied) for (const listener of this.#listeners) listener(record);
    return applied;
  }

  /** @param listener - called with each applied record; must not throw. @returns a function to remove the listener. */
  onChange(listener: (record: KeyRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #insert(record: KeyRecord): boolean {
    if (record.status === 'revoked') {
      this.#remove(record.id);
      this.#dropped.delete(record.id);
      this.#revoked.set(record.id, this.#intern(record));
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
    // Drop the runtime state, which belongs to the previous version of the key.
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
    // Once a key has been dropped, do not scan: scanning all keys for each new key would take too long.
    if (this.#entries.size >= this.#keysMax && this.#dropped.size === 0) this.#dropExpired();
    return this.#entries.size < this.#keysMax;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [id, { record }] of this.#entries) {
      if (record.expiresAt !== null && record.expiresAt <= now) this.#remove(id);
    }
  }

  /** @param nowMs - Unix milliseconds. @throws Failure MISSING_KEY, INVALID_KEY, KEYS_UNAVAILABLE */
  authenticate(credential: string | null, nowMs: number): LoadedKey {
    if (credential === null || credential === '') throw new Failure('MISSING_KEY');
    if (credential.length > API_KEY_LENGTH_MAX) return this.#authenticateToken(credential, nowMs);
    const cached = this.#credentialCache.find(credential);
    if (cached !== null && isUsable(cached, nowMs)) return cached;
    const playgroundToken = parsePlaygroundToken(credential);
    if (playgroundToken !== null) return this.#verifyPlaygroundToken(playgroundToken, nowMs);
    const fingerprint = hash('sha256', credential, 'binary');
    const entry = this.#entries.get(uncheckedKeyId(credential));
    const isVerified = entry?.verifiedHash === fingerprint;
    const record = isVerified ? entry.record : this.#verify(credential, entry?.record);
    if (!isUsable(record, nowMs)) throw new InactiveKeyFailure(record);
    if (entry === undefined) return record;
    if (!isVerified) entry.verifiedHash = fingerprint;
    if (record.keyState === undefined) entry.record = withKeyState(record);
    entry.cacheIndex = this.#credentialCache.put(credential, entry.record);
    return entry.record;
  }

  #authenticateToken(token: string, nowMs: number): LoadedKey {
    if (this.#jwt === null) throw new Failure('INVALID_KEY');
    if (!this.#jwt.isReady)
      throw new Failure('KEYS_UNAVAILABLE', { cause: "the issuer's JWKS has not been fetched yet" });
    const verified = this.#jwt.verify(token, nowMs);
    if (verified === null) throw new Failure('INVALID_KEY');
    if (verified === 'expired') throw new Failure('INVALID_KEY', { cause: KEY_NO_LONGER_VALID });
    const entry = this.#entries.get(verified.subject);
    if (entry === undefined) throw this.#unknown(verified.subject);
    const record = usableRecord(entry, nowMs);
    const known = this.#tokenKeys.get(verified);
    // Each change to the key gives it a new state.
    if (known?.keyState !== undefined && known.keyState === record.keyState) return known;
    const key = { ...record, tokenExpiresAt: verified.until };
    this.#tokenKeys.set(verified, key);
    return key;
  }

  /** Playground tokens are not cached: they are rare, and expire within minutes. */
  #verifyPlaygroundToken(token: PlaygroundToken, nowMs: number): LoadedKey {
    const entry = this.#entries.get(token.keyId);
    const pepper = entry === undefined ? DUMMY_PEPPER : this.#peppers.get(entry.record.pepperVersion);
    const matches = isPlaygroundTokenOf(token, pepper ?? DUMMY_PEPPER);
    if (entry === undefined) throw this.#unknown(token.keyId);
    if (pepper === undefined) throw new Failure('KEYS_UNAVAILABLE');
    if (!matches) throw new Failure('INVALID_KEY');
    if (nowMs >= token.expiresAtMs) throw new Failure('INVALID_KEY', { cause: KEY_NO_LONGER_VALID });
    return { ...usableRecord(entry, nowMs), tokenExpiresAt: token.expiresAtMs };
  }

  #verify(credential: string, loaded: LoadedKey | undefined): LoadedKey {
    const parsed = parseApiKey(credential);
    if (typeof parsed === 'string') throw new Failure('INVALID_KEY');
    const record = loaded ?? this.#revoked.get(parsed.id);
    const pepper = record === undefined ? DUMMY_PEPPER : this.#peppers.get(record.pepperVersion);
    const digest = digestApiKey(credential, pepper ?? DUMMY_PEPPER);
    const matches = timingSafeEqual(digest, record?.digest ?? DUMMY_DIGEST);
    if (record === undefined || (loaded === undefined && !matches)) throw this.#unknown(parsed.id);
    if (pepper === undefined) throw new Failure('KEYS_UNAVAILABLE');
    if (!matches) throw new Failure('INVALID_KEY');
    return record;
  }

  #unknown(id: KeyId): Failure {
    if (this.#revoked.get(id) !== undefined)
      return new Failure('INVALID_KEY', { cause: KEY_NO_LONGER_VALID });
    // After an overflow, any unknown key may be a key that was not loaded.
    if (this.#dropped.has(id) || this.#hasOverflowed)
      return new Failure('KEYS_UNAVAILABLE', { cause: `key ${id} is not loaded: key limit reached` });
    return this.#storeReachable
      ? new Failure('INVALID_KEY')
      : new Failure('KEYS_UNAVAILABLE', { cause: `key ${id} is unknown and the store is unreachable` });
  }
}

/** Failure cause for a key that was once valid. Its use is no guess and does not count as a failed authentication. */
export const KEY_NO_LONGER_VALID = 'the key is no longer valid';

/** Rejects a revoked, disabled or expired key like an unknown one, but names it, so that it counts for its customer. */
export class InactiveKeyFailure extends Failure {
  /** Private, so that no log of the failure has the key's record. */
  readonly #key: LoadedKey;

  constructor(key: LoadedKey) {
    super('INVALID_KEY', { cause: KEY_NO_LONGER_VALID });
    this.#key = key;
  }

  get key(): LoadedKey {
    return this.#key;
  }
}

const isUnrestricted = ({ networks, cidrs, origins, methods }: KeyRules): boolean =>
  networks === null && cidrs === null && origins === null && methods === null;

const limitNames = (Object.keys(defaultPlanLimits) as (keyof PlanLimits)[]).filter(
  (name) => name !== 'prices',
);

/** Returns the record of a key with its state. @throws Failure INVALID_KEY */
function usableRecord(entry: KeyEntry, nowMs: number): LoadedKey {
  if (!isUsable(entry.record, nowMs)) throw new InactiveKeyFailure(entry.record);
  if (entry.record.keyState === undefined) entry.record = withKeyState(entry.record);
  return entry.record;
}

/** Copies a record on first use, with the hot fields first, so that keys in use are close together in memory. */
function withKeyState(record: KeyRecord): LoadedKey {
  const { product, status, expiresAt, rules, limits, familyId, addressPerSecond, monotonicReads } = record;
  const keyState = new KeyState();
  return {
    ...{ product, status, expiresAt, rules, limits, keyState, familyId, addressPerSecond, monotonicReads },
    ...record,
    keyState,
  };
}

/** Allocates nothing, because it runs for each key at startup. */
function areEqual(one: PlanLimits, other: PlanLimits): boolean {
  for (const name of limitNames) if (one[name] !== other[name]) return false;
  for (const method in one.prices) if (one.prices[method] !== other.prices[method]) return false;
  for (const method in other.prices) if (!Object.hasOwn(one.prices, method)) return false;
  return true;
}

/** @param nowMs - Unix milliseconds. */
export function isUsable({ status, expiresAt }: KeyRecord, nowMs: number): boolean {
  if (status !== 'active' && status !== 'rotating') return false;
  return expiresAt === null || nowMs < expiresAt;
}

/** A power of two, larger than the number of keys in use at once. An entry takes about 200 bytes. */
const ENTRIES_MAX = 65_536;
/** Associativity. With one way, one in seven of 10,000 keys in use would evict another. */
const WAYS = 4;
/** Tag, credential and value, adjacent in memory. */
const FIELDS_PER_ENTRY = 3;
const FIELDS_PER_SET = WAYS * FIELDS_PER_ENTRY;

type Field<Found> = number | string | Found | null;

/** Hashes the last five characters: they belong to the checksum, so they are evenly distributed. */
function tagOf(credential: string): number {
  let tag = 0;
  for (let i = credential.length - 5; i < credential.length; i++) tag = tag * 31 + credential.charCodeAt(i);
  return tag & (2 ** 30 - 1);
}

/**
 * Set-associative cache. The caller removes an entry when its key changes and checks expiry on each hit. Comparison is
 * not constant-time, but each wrong guess is verified in full and counts as a failed authentication.
 */
export class VerifiedCredentialCache<Found> {
  readonly #fields: Field<Found>[] = new Array<null>(ENTRIES_MAX * FIELDS_PER_ENTRY).fill(null);
  /** Way that was evicted last; advanced before each eviction. */
  #nextVictim = 0;

  find(credential: string): Found | null {
    const tag = tagOf(credential);
    const first = (tag & (ENTRIES_MAX / WAYS - 1)) * FIELDS_PER_SET;
    for (let index = first; index < first + FIELDS_PER_SET; index += FIELDS_PER_ENTRY) {
      // Compare the tag first: the text of the credential is elsewhere in memory.
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

  /** Removes an entry if it is still at this index. */
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
