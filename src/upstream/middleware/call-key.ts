import { RecentMap } from '../../base/cache/recent-map.ts';
import type { Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodRow, methodTraits } from '../../protocol/methods.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { type CachePolicy, cachePolicy } from './cache-policy.ts';
import { canonicalParams } from './canonical-params.ts';

/** What a call asks, however it was written. */
export type CallKey = Readonly<{
  /** Equal for calls that ask the same, and for no others: network, method and params, and not a hash of them. */
  text: string;
  /** Only the params of it. */
  params: string;
  policy: CachePolicy;
  /** What is asked at; null: it cannot be told. */
  commitment: Commitment | null;
  /** 0 where none was given. */
  minContextSlot: Slot;
  /** Nothing stands among the params that is not understood here. */
  isPlain: boolean;
  /** What remembering it takes. */
  weight: number;
}> & {
  /** How often it was asked for what is kept of it while it was remembered. */
  lookups: number;
};

export type CallKeyLimits = Readonly<{
  /** Params that are longer are compared with no others. */
  paramsMaxBytes: number;
  /** Ways of writing that are remembered, and the bytes that they take. */
  keysMax: number;
  keysMaxBytes: number;
}>;

export const callKeyLimits: CallKeyLimits = {
  paramsMaxBytes: 8_192,
  keysMax: 4_096,
  keysMaxBytes: 8 * 1024 * 1024,
};

/** What a key takes beside its texts; an estimate. */
const KEY_BYTES = 320;
const NO_SLOT = slot(0n);

/** What a call without a commitment among its params is about: with a context that of the newest bank. */
function commitmentOf(row: MethodRow, requested: Commitment | null): Commitment | null {
  if (row.commitment === null) return row.context ? 'processed' : 'finalized';
  return row.config === null ? null : requested;
}

function makeKey({ network, method, row, params }: Call, latin1: string): CallKey {
  const policy = cachePolicy(method);
  const read = canonicalParams(params, latin1, { index: row.config, kind: policy.config });
  // No canonical text begins with the mark.
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

/**
 * What a call asks at for certain, by what its params mean and not by how they are written: what its answer says may
 * then be held for what the node knows. Nothing is remembered of it.
 * @returns null where a node may read the params in another way.
 */
export function certainCommitment({ method, row, params }: Call): Commitment | null {
  if (row.commitment === null) return commitmentOf(row, null);
  if (params !== null && params.length > callKeyLimits.paramsMaxBytes) return null;
  const configPosition = { index: row.config, kind: cachePolicy(method).config };
  const read = canonicalParams(params, params?.toString('latin1') ?? '', configPosition);
  return read?.isPlain === true ? commitmentOf(row, read.commitment) : null;
}

/** Tells which calls ask the same. The same bytes are looked at once. */
export class CallKeys {
  readonly #limits: CallKeyLimits;
  /** By network, method and raw params. */
  readonly #cached: RecentMap<string, CallKey>;
  /** Each middleware looks up the key of the same call in the same tick. */
  #lastCall: Call | null = null;
  #lastKey: CallKey | null = null;

  constructor(limits: Partial<CallKeyLimits> = {}) {
    this.#limits = { ...callKeyLimits, ...limits };
    this.#cached = new RecentMap(this.#limits.keysMax, this.#limits.keysMaxBytes);
  }

  /** Ways of writing that are remembered. */
  get size(): number {
    return this.#cached.size;
  }

  /** @returns null for a call that stands for itself. */
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
