import type { Weighted } from '../../base/cache/weighted-lru.ts';
import type { Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodRow, methodTraits } from '../../protocol/methods.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { type CachePolicy, cachePolicy } from './cache-policy.ts';
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
}> & { lookups: number };

export const callKeyLimits = {
  /** Calls with longer params get no key. */
  paramsMaxBytes: 8_192,
  keysMax: 4_096,
  keysMaxBytes: 8 * 1024 * 1024,
};

export type CallKeyLimits = Readonly<typeof callKeyLimits>;

const KEY_BYTES = 320;
const NO_SLOT = slot(0n);

function commitmentOf(row: MethodRow, requested: Commitment | null): Commitment | null {
  if (row.commitment === null) return row.context ? 'processed' : 'finalized';
  return row.config === null ? null : requested;
}

function makeKey({ network, method, row, params }: Call, latin1: string): CallKey {
  const policy = cachePolicy(method);
  const read = canonicalParams(params, latin1, { index: row.config, kind: policy.config });
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
    lookups: 0,
    weight: KEY_BYTES + latin1.length + whole.length + text.length,
  };
}

/** @returns the commitment; null if a node may interpret the params differently. */
export function certainCommitment({ method, row, params }: Call): Commitment | null {
  if (row.commitment === null) return commitmentOf(row, null);
  if (params !== null && params.length > callKeyLimits.paramsMaxBytes) return null;
  const configPosition = { index: row.config, kind: cachePolicy(method).config };
  const read = canonicalParams(params, params?.toString('latin1') ?? '', configPosition);
  return read?.isPlain === true ? commitmentOf(row, read.commitment) : null;
}

/** Caches call keys by the raw bytes of the params. */
export class CallKeys {
  readonly #limits: CallKeyLimits;
  readonly #cached: RecentMap<string, CallKey>;
  /** Memo of the last call: each middleware looks up the same call in the same tick. */
  #lastCall: Call | null = null;
  #lastKey: CallKey | null = null;

  constructor(limits: Partial<CallKeyLimits> = {}) {
    this.#limits = { ...callKeyLimits, ...limits };
    this.#cached = new RecentMap(this.#limits.keysMax, this.#limits.keysMaxBytes);
  }

  get size(): number {
    return this.#cached.size;
  }

  /** @returns null for a call that is neither cached nor coalesced. */
  keyOf(call: Call): CallKey | null {
    if (call === this.#lastCall) return this.#lastKey;
    this.#lastKey = this.#lookUp(call);
    this.#lastCall = call;
    return this.#lastKey;
  }

  #lookUp(call: Call): CallKey | null {
    const { network, method, row, params } = call;
    if (!methodTraits[row.kind].shared) return null;
    if (params !== null && params.length > this.#limits.paramsMaxBytes) return null;
    const latin1 = params === null ? '' : params.toString('latin1');
    const rawKey = `${network}\n${method}\n${latin1}`;
    const cached = this.#cached.get(rawKey);
    if (cached !== undefined) return cached;
    const key = makeKey(call, latin1);
    this.#cached.set(rawKey, key);
    return key;
  }
}

/**
 * Two-generation cache, cheaper per entry than an LRU list. When the young generation is full, it replaces the old
 * one. Reading an old entry adds it to the young generation, so entries in use survive.
 */
export class RecentMap<Key, Value extends Weighted> {
  readonly #entriesMax: number;
  readonly #weightMax: number;
  #young = new Map<Key, Value>();
  #old: Map<Key, Value> = new Map();
  #youngWeight = 0;

  constructor(entriesMax: number, weightMax: number) {
    this.#entriesMax = entriesMax / 2;
    this.#weightMax = weightMax / 2;
  }

  /** An entry in both generations counts twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  /** A value heavier than half of the limit is ignored. */
  set(key: Key, value: Value): void {
    if (value.weight > this.#weightMax) return;
    const isFull =
      this.#young.size + 1 > this.#entriesMax || this.#youngWeight + value.weight > this.#weightMax;
    if (isFull) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWeight = 0;
    }
    this.#young.set(key, value);
    this.#youngWeight += value.weight;
  }
}
