import { WeightedLru } from '../../base/cache/weighted-lru.ts';
import type {
  Call,
  Network,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../../protocol/call.ts';
import { noopPendingCall } from '../../protocol/rpc-dispatcher.ts';
import type { Slot } from '../../solana/units.ts';
import { readObservedSlot } from '../slots/context-slot.ts';
import { emptySlotTracker, type SlotTracker } from '../slots/slot-tracker.ts';
import { type CacheTtls, defaultCacheTtls, ttlFor } from './cache-policy.ts';
import type { CallKey, CallKeys } from './call-key.ts';
import type { CoalescedListener, StartedCall } from './request-coalescer.ts';
import type { ResponseCounts } from './response-counts.ts';

export type ResponseCacheOptions = Readonly<{
  memory: MemoryCache;
  keys: CallKeys;
  counts: ResponseCounts;
}>;

/** Answers what is kept from memory, at once, and asks for the rest. */
export class ResponseCache implements RpcDispatcher {
  readonly #next: RpcDispatcher;
  readonly #options: ResponseCacheOptions;

  /** @param next - contains the coalescer, which fills the memory cache. */
  constructor(next: RpcDispatcher, options: ResponseCacheOptions) {
    this.#next = next;
    this.#options = options;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const { memory, keys, counts } = this.#options;
    const key = keys.keyOf(call);
    if (key === null || key.policy.ttl === 'never') return this.#next.dispatch(call, handler);
    key.lookups++;
    const response = memory.find(call, key);
    if (response === null) {
      counts.misses++;
      return this.#next.dispatch(call, handler);
    }
    counts.hits++;
    call.trace?.onServedFrom?.('cache', performance.now());
    handler.onResponse(response);
    return noopPendingCall;
  }
}

export type MemoryCacheLimits = Readonly<{
  entriesMax: number;
  /** Of all that is kept, an estimate. */
  maxBytes: number;
  /** The longest answer that is kept. */
  answerMaxBytes: number;
}>;

export const memoryCacheLimits: MemoryCacheLimits = {
  entriesMax: 65_536,
  maxBytes: 128 * 1024 * 1024,
  answerMaxBytes: 1024 * 1024,
};

export type MemoryCacheOptions = Readonly<{
  slots?: SlotTracker;
  limits?: Partial<MemoryCacheLimits>;
  ttls?: Partial<CacheTtls>;
  /** Milliseconds, of a clock that never goes back. */
  now?: () => number;
}>;

/** An answer that is kept. */
type CacheEntry = Readonly<{
  response: RpcResponse;
  /** Which of the chains that its network has been since the start it is of. */
  chain: number;
  weight: number;
  expiresAt: number;
  /** What the answer says that it is of; null when it says nothing. */
  observedSlot: Slot | null;
  /** The newest slot that the chain is known to have had when it was true; null: it holds for its time. */
  slot: Slot | null;
}>;

/** What an entry takes beside its key and its answer; an estimate. */
const ENTRY_BYTES = 400;
/** Memory beside an answer's own that may be held with it. */
const SLACK_MAX_BYTES = 1_024;

/** Entries that are looked at with each that is kept: what is over, and nobody asks for again, makes room so. */
const SWEEP_BATCH = 2;

const newer = (a: Slot | null, b: Slot | null): Slot | null => (a === null || (b !== null && b > a) ? b : a);

/** The answer in memory of its own: what came may be a view into far more. */
function compact(response: RpcResponse): RpcResponse {
  const { body, errorCode } = response;
  if (body.buffer.byteLength - body.length <= SLACK_MAX_BYTES) return response;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return { body: own, errorCode };
}

/** Answers that hold for a while, in memory that is bounded. */
export class MemoryCache implements CoalescedListener {
  /** For others that decide what is final. */
  readonly roots: FinalizedRoots;
  readonly #limits: MemoryCacheLimits;
  readonly #ttls: CacheTtls;
  readonly #slots: SlotTracker;
  readonly #now: () => number;
  readonly #entries: WeightedLru<string, CacheEntry>;
  /** How often networks began anew. What is of a chain before is forgotten when it is looked for, or makes room. */
  readonly #chains = new Map<Network, number>();

  constructor({ slots = emptySlotTracker, limits, ttls, now }: MemoryCacheOptions = {}) {
    this.#limits = { ...memoryCacheLimits, ...limits };
    this.#ttls = { ...defaultCacheTtls, ...ttls };
    this.#slots = slots;
    this.#now = now ?? (() => performance.now());
    this.#entries = new WeightedLru(this.#limits.entriesMax, this.#limits.maxBytes);
    this.roots = new FinalizedRoots(slots, (network) => this.#onChainReset(network));
  }

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#entries.weight;
  }

  /** Answers that were forgotten to make room. */
  get evictions(): number {
    return this.#entries.evictions;
  }

  /** What holds now for whoever asks; null: nothing does. */
  find(call: Call, key: CallKey): RpcResponse | null {
    // Notices a chain that has begun anew.
    if (key.policy.ttl !== 'slot') this.roots.rootOf(call.network);
    const entry = this.#entries.get(key.text);
    if (entry === undefined) return null;
    if (!this.#isFresh(entry, call, key)) {
      this.#entries.delete(key.text);
      return null;
    }
    return isBelowMinSlot(entry, call, key) ? null : entry.response;
  }

  slotFor({ network }: Call, { policy, commitment }: CallKey): Slot | null {
    if (policy.ttl !== 'slot' || commitment === null) return null;
    return this.#slots.slotAt(network, commitment)?.slot ?? null;
  }

  onResponse({ call, key, startedAt, slot }: StartedCall, response: RpcResponse): void {
    if (key.policy.ttl === 'never') return;
    const reportsRoot = key.commitment === 'finalized' && key.isPlain;
    const isCacheable = response.body.length <= this.#limits.answerMaxBytes && !isRare(key);
    if (!reportsRoot && !isCacheable) return;
    const observedSlot = response.errorCode === 0 ? readObservedSlot(call.row, response.body) : null;
    if (observedSlot !== null && reportsRoot) this.roots.observed(call.network, observedSlot);
    if (!isCacheable) return;
    const root = key.policy.ttl === 'final' ? this.roots.rootOf(call.network) : null;
    const expiresAt = startedAt + ttlFor(key, response, root, this.#ttls);
    if (expiresAt <= this.#now()) return;
    this.#entries.set(key.text, {
      response: compact(response),
      chain: this.#chainOf(call.network),
      weight: ENTRY_BYTES + key.text.length + response.body.length,
      expiresAt,
      observedSlot,
      // What says nothing of its slot may be of the newest: only time tells that it is over, or each look at the nodes
      // would have it asked for anew within its slot.
      slot: observedSlot === null ? null : newer(slot, observedSlot),
    });
    this.#entries.sweep(SWEEP_BATCH, this.#isExpired);
  }

  readonly #isExpired = ({ expiresAt }: CacheEntry): boolean => expiresAt <= this.#now();

  /** Which of the chains that the network has been it is now. */
  #chainOf(network: Network): number {
    return this.#chains.get(network) ?? 0;
  }

  #onChainReset(network: Network): void {
    this.#chains.set(network, this.#chainOf(network) + 1);
  }

  #isFresh(entry: CacheEntry, { network }: Call, { policy, commitment }: CallKey): boolean {
    if (entry.expiresAt <= this.#now() || entry.chain !== this.#chainOf(network)) return false;
    if (policy.ttl !== 'slot' || entry.slot === null || commitment === null) return true;
    const observed = this.#slots.slotAt(network, commitment);
    return observed === null || observed.slot <= entry.slot;
  }
}

/** The state of an account that nobody asked for lately is over before anybody asks for it again. */
const isRare = ({ policy, lookups }: CallKey): boolean => policy.ttl === 'slot' && lookups < 2;

/** Whether the answer is older than what its reader was told before; for others it may be good. */
function isBelowMinSlot({ observedSlot }: CacheEntry, { minSlot }: Call, { commitment }: CallKey): boolean {
  return (
    minSlot != null && observedSlot !== null && commitment !== null && observedSlot < minSlot.at(commitment)
  );
}

/** A root that goes back by more slots than this is that of another chain: nodes that are behind differ by less. */
const SAME_CHAIN_SLOTS = 500n;

/** What is known of the finalized roots: what the nodes tell, and where they tell nothing, what answers said. */
export class FinalizedRoots {
  readonly #slots: SlotTracker;
  readonly #onChainReset: (network: Network) => void;
  readonly #newest = new Map<Network, Slot>();
  readonly #observed = new Map<Network, Slot>();

  /** @param onOtherChain - hears when a network begins anew, as one for tests does: what was final is not any more. */
  constructor(slots: SlotTracker, onChainReset: (network: Network) => void) {
    this.#slots = slots;
    this.#onChainReset = onChainReset;
  }

  /** An answer at `finalized` was of this slot. */
  observed(network: Network, slot: Slot): void {
    this.#observed.set(network, slot);
  }

  /** @returns null while nothing is known. */
  rootOf(network: Network): Slot | null {
    const root = this.#slots.slotAt(network, 'finalized')?.slot ?? this.#observed.get(network) ?? null;
    if (root === null) return null;
    const newest = this.#newest.get(network);
    if (newest === undefined || root > newest) this.#newest.set(network, root);
    else if (newest - root > SAME_CHAIN_SLOTS) {
      this.#newest.set(network, root);
      this.#onChainReset(network);
    }
    return root;
  }
}
