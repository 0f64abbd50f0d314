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
import { type CacheTtls, defaultCacheTtls, lacksOption, policiesByRow, ttlFor } from './cache-policy.ts';
import type { CallKey, CallKeys } from './call-key.ts';
import type { CoalescedListener, StartedCall } from './request-coalescer.ts';
import type { ResponseCounts } from './response-counts.ts';

export type ResponseCacheOptions = Readonly<{ memory: MemoryCache; keys: CallKeys; counts: ResponseCounts }>;

export class ResponseCache implements RpcDispatcher {
  readonly #next: RpcDispatcher;
  readonly #options: ResponseCacheOptions;

  /** @param next - must contain the coalescer, which fills the memory cache. */
  constructor(next: RpcDispatcher, options: ResponseCacheOptions) {
    this.#next = next;
    this.#options = options;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const { memory, keys, counts } = this.#options;
    const policy = policiesByRow.get(call.row)!;
    if (policy.ttl === 'never' || lacksOption(policy, call.params) || !keys.isShared(call))
      return this.#next.dispatch(call, handler);
    const key = memory.keyFor(call);
    const response = key === null ? null : memory.find(call, key);
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

export const memoryCacheLimits = {
  entriesMax: 65_536,
  maxBytes: 128 * 1024 * 1024,
  answerMaxBytes: 1024 * 1024,
};

export type MemoryCacheLimits = Readonly<typeof memoryCacheLimits>;

export type MemoryCacheOptions = Readonly<{
  keys: CallKeys;
  slots?: SlotTracker;
  limits?: Partial<MemoryCacheLimits>;
  ttls?: Partial<CacheTtls>;
  now?: () => number;
}>;

type CacheEntry = Readonly<{
  response: RpcResponse;
  chain: number;
  weight: number;
  expiresAt: number;
  observedSlot: Slot | null;
  /** The response is stale once a newer slot is observed; null: the response is valid until it expires. */
  slot: Slot | null;
}>;

const ENTRY_BYTES = 400;
/** Maximum unused memory that a cached view may keep alive. */
const SLACK_MAX_BYTES = 1_024;

/** Entries checked for expiry per insertion. */
const SWEEP_BATCH = 2;

const newer = (a: Slot | null, b: Slot | null): Slot | null => (a === null || (b !== null && b > a) ? b : a);

function compact(response: RpcResponse): RpcResponse {
  const { body } = response;
  if (body.buffer.byteLength - body.length <= SLACK_MAX_BYTES) return response;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return { ...response, body: own };
}

/** LRU cache of responses, filled by the coalescer. */
export class MemoryCache implements CoalescedListener {
  readonly roots: FinalizedRoots;
  readonly #keys: CallKeys;
  readonly #limits: MemoryCacheLimits;
  readonly #ttls: CacheTtls;
  readonly #slots: SlotTracker;
  readonly #now: () => number;
  readonly #entries: WeightedLru<string, CacheEntry>;
  /** Number of chain resets per network. Entries from earlier chains are dropped lazily. */
  readonly #chains = new Map<Network, number>();

  constructor({ keys, slots = emptySlotTracker, limits, ttls, now }: MemoryCacheOptions) {
    this.#keys = keys;
    this.#limits = { ...memoryCacheLimits, ...limits };
    this.#ttls = { ...defaultCacheTtls, ...ttls };
    this.#slots = slots;
    this.#now = now ?? (() => performance.now());
    this.#entries = new WeightedLru(this.#limits.entriesMax, this.#limits.maxBytes);
    this.roots = new FinalizedRoots(slots, (network) => {
      this.#chains.set(network, this.#chainOf(network) + 1);
    });
  }

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#entries.weight;
  }

  get evictions(): number {
    return this.#entries.evictions;
  }

  /** null if the response cannot be cached, or is cached for one slot only and the call was not repeated. */
  keyFor(call: Call): CallKey | null {
    const policy = policiesByRow.get(call.row)!;
    if (policy.ttl === 'never' || lacksOption(policy, call.params)) return null;
    if (policy.ttl === 'slot' && !this.#keys.isRepeated(call)) return null;
    return this.#keys.keyOf(call);
  }

  find(call: Call, key: CallKey): RpcResponse | null {
    // Called for its side effect: it detects a chain reset.
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

  onResponse({ call, startedAt, slot }: StartedCall, key: CallKey, response: RpcResponse): RpcResponse {
    if (response.body.length > this.#limits.answerMaxBytes) return response;
    const observedSlot = response.errorCode === 0 ? readObservedSlot(call.row, response.body) : null;
    const root = key.policy.ttl === 'final' ? this.roots.rootOf(call.network) : null;
    const expiresAt = startedAt + ttlFor(key, response, root, this.#ttls);
    if (expiresAt <= this.#now()) return response;
    const cached = compact(response);
    this.#entries.set(key.text, {
      response: cached,
      chain: this.#chainOf(call.network),
      weight: ENTRY_BYTES + key.text.length + response.body.length,
      expiresAt,
      observedSlot,
      // A response without a slot expires only by time; a polled slot would invalidate it too early.
      slot: observedSlot === null ? null : newer(slot, observedSlot),
    });
    this.#entries.sweep(SWEEP_BATCH, this.#isExpired);
    return cached;
  }

  readonly #isExpired = ({ expiresAt }: CacheEntry): boolean => expiresAt <= this.#now();

  #chainOf(network: Network): number {
    return this.#chains.get(network) ?? 0;
  }

  #isFresh(entry: CacheEntry, { network }: Call, { policy, commitment }: CallKey): boolean {
    if (entry.expiresAt <= this.#now() || entry.chain !== this.#chainOf(network)) return false;
    if (policy.ttl !== 'slot' || entry.slot === null || commitment === null) return true;
    const observed = this.#slots.slotAt(network, commitment);
    return observed === null || observed.slot <= entry.slot;
  }
}

function isBelowMinSlot({ observedSlot }: CacheEntry, { minSlot }: Call, { commitment }: CallKey): boolean {
  return (
    minSlot != null && observedSlot !== null && commitment !== null && observedSlot < minSlot.at(commitment)
  );
}

/** If the root moves back by more than this, the network is on another chain. Lagging nodes differ by less. */
const SAME_CHAIN_SLOTS = 500n;

/** Finalized root of each network, as reported by polls. Reading a root keeps its polls running. */
export class FinalizedRoots {
  readonly #slots: SlotTracker;
  readonly #onChainReset: (network: Network) => void;
  readonly #newest = new Map<Network, Slot>();

  /** @param onChainReset - called when a network restarts from another genesis, as test networks do. */
  constructor(slots: SlotTracker, onChainReset: (network: Network) => void) {
    this.#slots = slots;
    this.#onChainReset = onChainReset;
  }

  rootOf(network: Network): Slot | null {
    const root = this.#slots.slotAt(network, 'finalized')?.slot ?? null;
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
