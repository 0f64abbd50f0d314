import { randomInt } from 'node:crypto';
import { type Weighted, WeightedLru } from '../../base/cache/weighted-lru.ts';
import type { Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodRow, methodTraits } from '../../protocol/methods.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { type CachePolicy, policiesByRow } from './cache-policy.ts';
import { canonicalParams } from './canonical-params.ts';

/** Identity of a call, independent of JSON formatting. */
export type CallKey = Readonly<{
  /** Network, method and canonical params; not a hash, so distinct calls never collide. */
  text: string;
  params: string;
  policy: CachePolicy;
  commitment: Commitment | null;
  minContextSlot: Slot;
  /** Whether the options object is the last param or absent, so that all options are known. */
  isPlain: boolean;
  weight: number;
}>;

export const callKeyLimits = {
  /** Calls with longer params get no key. */
  paramsMaxBytes: 8_192,
  keysMax: 4_096,
  keysMaxBytes: 8 * 1024 * 1024,
};

export type CallKeyLimits = Readonly<typeof callKeyLimits>;

/** Bytes that a key takes in addition to its strings. */
const KEY_BYTES = 480;
const NO_SLOT = slot(0n);

function commitmentOf(row: MethodRow, requested: Commitment | null): Commitment | null {
  if (row.commitment === null) return row.context ? 'processed' : 'finalized';
  return row.configIndex === null ? null : requested;
}

function makeKey({ network, method, row, params }: Call, latin1: string): CallKey {
  const policy = policiesByRow.get(row)!;
  const read = canonicalParams(params, latin1, { index: row.configIndex, kind: policy.config });
  // No canonical text starts with "!".
  const text = read?.text ?? `!${latin1}`;
  const whole = `${network}\n${method}\n${text}`;
  return {
    text: whole,
    params: text,
    policy,
    commitment: read === null ? null : commitmentOf(row, read.commitment),
    minContextSlot: read?.minContextSlot ?? NO_SLOT,
    isPlain: read?.isPlain ?? false,
    weight: KEY_BYTES + 2 * latin1.length + whole.length + text.length,
  };
}

/** @returns the commitment; null if nodes may interpret the params in different ways. */
export function certainCommitment({ row, params }: Call): Commitment | null {
  if (row.commitment === null) return commitmentOf(row, null);
  if (params !== null && params.length > callKeyLimits.paramsMaxBytes) return null;
  const configPosition = { index: row.configIndex, kind: policiesByRow.get(row)!.config };
  const read = canonicalParams(params, params?.toString('latin1') ?? '', configPosition);
  return read?.isPlain === true ? commitmentOf(row, read.commitment) : null;
}

/** Number of remembered fingerprints; must be a power of 2. Small enough to stay in the processor's caches. */
const SEEN_SIZE = 8_192;
/** A call counts as repeated if an equal call arrived at most this long ago. */
const REPEATED_WITHIN_MS = 1_000;
/** Must be odd. Secret, so that a client cannot craft calls with the same fingerprints as another client's calls. */
const MULTIPLIER = (randomInt(2 ** 29) * 8 + 5) | 0;

/** Whether two calls are equal byte by byte. */
export function isSameCall(a: Call, b: Call): boolean {
  if (a.method !== b.method || a.network !== b.network) return false;
  return a.params === null || b.params === null ? a.params === b.params : a.params.equals(b.params);
}

/** Copies the params, so that the cache keeps neither the request body nor Node.js's shared buffer pool alive. */
function copyOf({ network, method, row, params }: Call): Call {
  if (params === null) return { network, method, row, params };
  const own = Buffer.allocUnsafeSlow(params.length);
  params.copy(own);
  return { network, method, row, params: own };
}

type CachedKey = Weighted & Readonly<{ call: Call; key: CallKey }>;

type CallKeyOptions = Partial<CallKeyLimits> & Readonly<{ multiplier?: number; now?: () => number }>;

/** Hashes every call, but builds a key only if a response may be reused. Call objects must not be reused or changed. */
export class CallKeys {
  readonly #limits: CallKeyLimits;
  readonly #multiplier: number;
  readonly #now: () => number;
  readonly #cached: WeightedLru<number, CachedKey>;
  /** Pairs of a fingerprint and the time in milliseconds, modulo 2^32, when it was last seen. */
  readonly #seen = new Int32Array(2 * SEEN_SIZE);
  /** The fields below describe the last call, which every middleware reads in the same tick. */
  #lastCall: Call | null = null;
  #fingerprint = 0;
  /** undefined: not looked up yet. */
  #isRepeated: boolean | undefined;
  #key: CallKey | undefined;

  constructor({ multiplier = MULTIPLIER, now, ...limits }: CallKeyOptions = {}) {
    this.#limits = { ...callKeyLimits, ...limits };
    this.#multiplier = multiplier;
    this.#now = now ?? (() => performance.now());
    this.#cached = new WeightedLru(this.#limits.keysMax, this.#limits.keysMaxBytes);
  }

  get size(): number {
    return this.#cached.size;
  }

  /** Whether equal calls may share a response. */
  isShared({ row, params }: Call): boolean {
    return methodTraits[row.kind].shared && (params === null || params.length <= this.#limits.paramsMaxBytes);
  }

  /** 32-bit hash of the network name's length, the method and the params. Different calls may have the same hash. */
  fingerprintOf(call: Call): number {
    if (call === this.#lastCall) return this.#fingerprint;
    const { network, method, params } = call;
    const multiplier = this.#multiplier;
    let hash = network.length;
    for (let i = 0; i < method.length; i++) hash = Math.imul(hash ^ method.charCodeAt(i), multiplier);
    if (params !== null)
      for (let i = 0; i < params.length; i++) hash = Math.imul(hash ^ (params[i] as number), multiplier);
    this.#lastCall = call;
    this.#fingerprint = hash;
    this.#isRepeated = undefined;
    this.#key = undefined;
    return hash;
  }

  /** Whether an equal call arrived within the last second. A hash collision also returns true. */
  isRepeated(call: Call): boolean {
    const fingerprint = this.fingerprintOf(call);
    this.#isRepeated ??= this.#findRepetition(fingerprint);
    return this.#isRepeated;
  }

  /** @returns null for a call whose response is not shared. */
  keyOf(call: Call): CallKey | null {
    if (!this.isShared(call)) return null;
    const fingerprint = this.fingerprintOf(call);
    this.#key ??= this.#findOrMake(call, fingerprint);
    return this.#key;
  }

  #findRepetition(fingerprint: number): boolean {
    const index = 2 * (fingerprint & (SEEN_SIZE - 1));
    const now = this.#now() | 0;
    const elapsedMs = (now - (this.#seen[index + 1] as number)) | 0;
    const isRepeated = this.#seen[index] === fingerprint && elapsedMs <= REPEATED_WITHIN_MS;
    this.#seen[index] = fingerprint;
    this.#seen[index + 1] = now;
    return isRepeated;
  }

  #findOrMake(call: Call, fingerprint: number): CallKey {
    const cached = this.#cached.get(fingerprint);
    if (cached !== undefined && isSameCall(cached.call, call)) return cached.key;
    const key = makeKey(call, call.params === null ? '' : call.params.toString('latin1'));
    this.#cached.set(fingerprint, { call: copyOf(call), key, weight: key.weight });
    return key;
  }
}
