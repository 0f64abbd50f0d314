import { hash, timingSafeEqual } from 'node:crypto';
import { Lru } from '../base/lru.ts';
import { Failure } from '../protocol/errors.ts';
import { API_KEY_LENGTH_MAX, digestApiKey, idPlaceIn, type ParsedApiKey, parseApiKey } from './api-key.ts';
import {
  anyUse,
  defaultPlanLimits,
  type KeyId,
  type KeyRecord,
  type KeyRules,
  type PlanLimits,
} from './key-record.ts';
import { createSeat } from './key-seat.ts';
import { KnownCredentials } from './known-credentials.ts';

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
const NOBODY = Buffer.alloc(32);
const NO_PEPPER = Buffer.alloc(32);

/**
 * A key that is held, the SHA-256 of the credential that was found to be it, and the place among those that are known
 * where it was put last; null: none was yet.
 */
type Held = { record: KeyRecord; checked: string | null; place: number | null };

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
  readonly #held = new Map<KeyId, Held>();
  /** Of good keys only, as they are now but for their end: a wrong one costs as much each time. */
  readonly #known = new KnownCredentials<KeyRecord>();
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
  readonly #leftOut = new Set<KeyId>();
  #isLost = false;

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
    return this.#held.size;
  }

  /** Keys for which there was no room, as far as they are counted; they come in with their next change. */
  get leftOut(): number {
    return this.#leftOut.size;
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
    return this.#held.get(id)?.record;
  }

  /** A key as it is now: its plan and its rules may have changed since it was found. One that has ended, as it was. */
  current(record: KeyRecord): KeyRecord {
    return this.find(record.id) ?? record;
  }

  /**
   * Takes in new and changed keys. A record that is not newer than the one held is ignored, so that a look-up
   * that comes in late cannot undo a revocation.
   * @returns the records that were taken in.
   */
  apply(records: Iterable<KeyRecord>): KeyRecord[] {
    const taken: KeyRecord[] = [];
    for (const record of records) {
      const known = this.find(record.id)?.version ?? this.#revoked.get(record.id);
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
      this.#letGo(record.id);
      this.#leftOut.delete(record.id);
      this.#revoked.set(record.id, record.version);
      return true;
    }
    if (!this.#held.has(record.id) && !this.#hasRoom()) {
      this.#leaveOut(record.id);
      return false;
    }
    const isInUse = this.find(record.id)?.seat !== undefined;
    this.#letGo(record.id);
    this.#leftOut.delete(record.id);
    const shared = this.#shared(record);
    const held = { record: isInUse ? seated(shared) : shared, checked: null, place: null };
    this.#held.set(record.id, held);
    return true;
  }

  #leaveOut(id: KeyId): void {
    if (this.#leftOut.size < this.#keysMax) this.#leftOut.add(id);
    else if (!this.#leftOut.has(id)) this.#isLost = true;
  }

  #letGo(id: KeyId): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    if (held.place !== null) this.#known.forget(held.place, held.record);
    this.#held.delete(id);
  }

  /** Most keys of a plan have the same limits, and many the same rules or none: they need not be there for each. */
  #shared(record: KeyRecord): KeyRecord {
    const known = this.#limits.get(record.planId);
    const isKnown = known !== undefined && areSame(known, record.limits);
    if (!isKnown) this.#limits.set(record.planId, record.limits);
    const limits = isKnown ? known : record.limits;
    // A seat that comes with it is of what it was before.
    const { seat: _, ...fresh } = record;
    return { ...fresh, limits, rules: this.#sharedRules(record.rules) };
  }

  #sharedRules(rules: KeyRules): KeyRules {
    if (isAnyUse(rules)) return anyUse;
    const { networks, cidrs, origins, methods } = rules;
    const text = JSON.stringify([networks, cidrs, origins, methods]);
    const known = this.#rules.get(text);
    if (known === undefined) this.#rules.set(text, rules);
    return known ?? rules;
  }

  #hasRoom(): boolean {
    // When some were left out already, looking through all keys again for each one more would take for ever.
    if (this.#held.size >= this.#keysMax && this.#leftOut.size === 0) this.#dropExpired();
    return this.#held.size < this.#keysMax;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [id, { record }] of this.#held) {
      if (record.expiresAt !== null && record.expiresAt <= now) this.#letGo(id);
    }
  }

  /**
   * The key behind a credential, of whatever product.
   * @param nowMs - Unix milliseconds.
   * @throws Failure MISSING_KEY, INVALID_KEY or KEYS_UNAVAILABLE (an unknown key while the store is away).
   */
  identify(credential: string | null, nowMs: number): KeyRecord {
    if (credential === null || credential === '') throw new Failure('MISSING_KEY');
    if (credential.length > API_KEY_LENGTH_MAX) throw new Failure('INVALID_KEY');
    const known = this.#known.find(credential);
    if (known !== null && isUsable(known, nowMs)) return known;
    const fingerprint = hash('sha256', credential, 'binary');
    const held = this.#held.get(idPlaceIn(credential));
    const isChecked = held?.checked === fingerprint;
    const record = isChecked ? held.record : this.#verify(credential, held?.record);
    if (!isUsable(record, nowMs)) throw new Failure('INVALID_KEY', { cause: KEY_ENDED });
    if (held === undefined) return record;
    if (!isChecked) held.checked = fingerprint;
    if (record.seat === undefined) held.record = seated(record);
    held.place = this.#known.keep(credential, held.record);
    return held.record;
  }

  /** @param record - of the id that stands in the credential. */
  #verify(credential: string, record: KeyRecord | undefined): KeyRecord {
    const parsed = parseApiKey(credential);
    if (typeof parsed === 'string') throw new Failure('INVALID_KEY');
    const pepper = record === undefined ? NO_PEPPER : this.#peppers.get(record.pepperVersion);
    const digest = digestApiKey(credential, pepper ?? NO_PEPPER);
    const matches = timingSafeEqual(digest, record?.digest ?? NOBODY);
    if (record === undefined) throw this.#unknown(parsed);
    if (pepper === undefined) throw new Failure('KEYS_UNAVAILABLE');
    if (!matches) throw new Failure('INVALID_KEY');
    return record;
  }

  #unknown({ id }: ParsedApiKey): Failure {
    if (this.#revoked.get(id) !== undefined) return new Failure('INVALID_KEY', { cause: KEY_ENDED });
    // Of those that were not counted any may be it.
    if (this.#leftOut.has(id) || this.#isLost)
      return new Failure('KEYS_UNAVAILABLE', { cause: `no room was left for key ${id}` });
    return this.#storeReachable
      ? new Failure('INVALID_KEY')
      : new Failure('KEYS_UNAVAILABLE', { cause: `key ${id} is unknown and the store is away` });
  }
}

/** The cause of a refusal of a key that was good once: whoever sends it has forgotten to change it, and guesses nothing. */
export const KEY_ENDED = 'the key was good once';

const isAnyUse = ({ networks, cidrs, origins, methods }: KeyRules): boolean =>
  networks === null && cidrs === null && origins === null && methods === null;

const limitNames = (Object.keys(defaultPlanLimits) as (keyof PlanLimits)[]).filter(
  (name) => name !== 'prices',
);

/**
 * A key gets its seat with its first use, and with it is made anew: so those in use lie together in memory, and not each
 * on a page of its own among all that are held. What each request looks at lies in front.
 */
function seated(record: KeyRecord): KeyRecord {
  const { product, state, expiresAt, rules, limits, familyId, addressPerSecond, neverBack } = record;
  const seat = createSeat();
  return {
    ...{ product, state, expiresAt, rules, limits, seat, familyId, addressPerSecond, neverBack },
    ...record,
    seat,
  };
}

/** Asked for each key at the start, so that nothing is made for it. */
function areSame(one: PlanLimits, other: PlanLimits): boolean {
  for (const name of limitNames) if (one[name] !== other[name]) return false;
  for (const method in one.prices) if (one.prices[method] !== other.prices[method]) return false;
  for (const method in other.prices) if (!Object.hasOwn(one.prices, method)) return false;
  return true;
}

/** Whether a key may be used at this time, in Unix milliseconds. */
export function isUsable({ state, expiresAt }: KeyRecord, nowMs: number): boolean {
  if (state !== 'active' && state !== 'rotating') return false;
  return expiresAt === null || nowMs < expiresAt;
}
