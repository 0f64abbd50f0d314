import type {
  Call,
  Network,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { methods } from '../../protocol/methods.ts';
import { noopPendingCall } from '../../protocol/rpc-dispatcher.ts';
import type { Slot } from '../../solana/units.ts';
import { readObservedSlot } from '../slots/context-slot.ts';
import { isPlausible, type SlotTracker } from '../slots/slot-tracker.ts';
import type { CallKey, CallKeys } from './call-key.ts';
import type { ResponseCounts } from './response-counts.ts';

export type SlotCacheOptions = Readonly<{
  slots: SlotTracker;
  keys: CallKeys;
  counts: ResponseCounts;
  /** Maximum age of an observed slot. Defaults to about one slot. */
  freshMs?: number;
  now?: () => number;
}>;

export const SLOT_CACHE_FRESH_MS = 500;

/** After a slot is returned to a caller, the cache returns no lower slot for this long. */
const OBSERVED_TTL_MS = 10_000;
/** Maximum age of a node's getHealth response. */
const HEALTHY_TTL_MS = 5_000;

const HEALTHY: RpcResponse = { body: Buffer.from('"ok"'), errorCode: 0 };

const slotResponse = (slot: Slot): RpcResponse => ({ body: Buffer.from(String(slot)), errorCode: 0 });

type ObservedHead = Readonly<{ slot: Slot; atMs: number; response: RpcResponse }>;

/** A call with params is forwarded, because a node may reject the params. */
const isWithoutParams = ({ params }: Call): boolean => params === null || params.toString('latin1') === '[]';

/**
 * Answers getHealth and getSlot from recently observed node state. Its own answers never go below a slot returned in
 * the last 10 s. Node responses are passed on unchanged and may be lower; sessions prevent it with MonotonicReads.
 */
export class SlotCache implements RpcDispatcher {
  readonly #next: RpcDispatcher;
  readonly #slots: SlotTracker;
  readonly #keys: CallKeys;
  readonly #counts: ResponseCounts;
  readonly #freshMs: number;
  readonly #now: () => number;
  readonly #observed = new Map<Network, Map<Commitment, ObservedHead>>();
  /** Time of the last getHealth response; absent unless the node was healthy. */
  readonly #healthyAt = new Map<Network, number>();

  constructor(next: RpcDispatcher, { slots, keys, counts, freshMs, now }: SlotCacheOptions) {
    this.#next = next;
    this.#slots = slots;
    this.#keys = keys;
    this.#counts = counts;
    this.#freshMs = freshMs ?? SLOT_CACHE_FRESH_MS;
    this.#now = now ?? (() => performance.now());
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    if (call.row === methods.getSlot) return this.#dispatchSlot(call, handler);
    if (call.row !== methods.getHealth || !isWithoutParams(call)) return this.#next.dispatch(call, handler);
    return this.#isHealthy(call.network)
      ? this.#respond(call, handler, HEALTHY)
      : this.#forwardHealth(call, handler);
  }

  #forwardHealth(call: Call, handler: ResponseHandler): PendingCall {
    return this.#next.dispatch(call, {
      onResponse: (response) => {
        if (response.errorCode === 0) this.#healthyAt.set(call.network, this.#now());
        else this.#healthyAt.delete(call.network);
        handler.onResponse(response);
      },
      onError: (failure) => {
        this.#healthyAt.delete(call.network);
        handler.onError(failure);
      },
    });
  }

  #isHealthy(network: Network): boolean {
    const current = this.#slots.slotAt(network, 'processed');
    const reportedAt = this.#healthyAt.get(network);
    if (current === null || reportedAt === undefined || !this.#isFresh(current.atMs)) return false;
    return this.#now() - reportedAt <= HEALTHY_TTL_MS;
  }

  #recordSlot(network: Network, commitment: Commitment, slot: Slot, response: RpcResponse): void {
    if (!isPlausible(slot, this.#slots.slotAt(network, commitment))) return;
    let ofNetwork = this.#observed.get(network);
    if (ofNetwork === undefined) {
      ofNetwork = new Map();
      this.#observed.set(network, ofNetwork);
    }
    const observed = ofNetwork.get(commitment);
    if (observed !== undefined && slot <= observed.slot && this.#isRecent(observed)) return;
    ofNetwork.set(commitment, { slot, atMs: this.#now(), response });
  }

  #dispatchSlot(call: Call, handler: ResponseHandler): PendingCall {
    const key = this.#keys.keyOf(call);
    if (key === null || key.commitment === null || !key.isPlain) return this.#next.dispatch(call, handler);
    const response = this.#slotFor(call, key, key.commitment);
    if (response !== null) return this.#respond(call, handler, response);
    return this.#forwardSlot(call, key.commitment, handler);
  }

  /** Forwards the call and records the node's slot, which is usually newer than the tracked slot. */
  #forwardSlot(call: Call, commitment: Commitment, handler: ResponseHandler): PendingCall {
    const { network, row } = call;
    return this.#next.dispatch(call, {
      onResponse: (response) => {
        const slot = response.errorCode === 0 ? readObservedSlot(row, response.body) : null;
        if (slot !== null) this.#recordSlot(network, commitment, slot, response);
        handler.onResponse(response);
      },
      onError: (failure) => handler.onError(failure),
    });
  }

  /** null if a node must be called. */
  #slotFor({ network, minSlot }: Call, key: CallKey, commitment: Commitment): RpcResponse | null {
    const current = this.#slots.slotAt(network, commitment);
    if (current === null || !this.#isFresh(current.atMs)) return null;
    const observed = this.#observed.get(network)?.get(commitment);
    const isAhead = observed !== undefined && observed.slot > current.slot && this.#isRecent(observed);
    const isObservedPlausible = observed !== undefined && isPlausible(observed.slot, current);
    if (isAhead && isObservedPlausible && !this.#isFresh(observed.atMs)) return null;
    const head = isAhead && isObservedPlausible ? observed.slot : current.slot;
    if (head < key.minContextSlot || (minSlot != null && head < minSlot.at(commitment))) return null;
    if (observed?.slot === head) return observed.response;
    const response = slotResponse(head);
    this.#recordSlot(network, commitment, head, response);
    return response;
  }

  #respond(call: Call, handler: ResponseHandler, response: RpcResponse): PendingCall {
    this.#counts.heads++;
    call.trace?.onServedFrom?.('heads', this.#now());
    handler.onResponse(response);
    return noopPendingCall;
  }

  #isRecent({ atMs }: ObservedHead): boolean {
    return this.#now() - atMs <= OBSERVED_TTL_MS;
  }

  #isFresh(atMs: number): boolean {
    return this.#now() - atMs <= this.#freshMs;
  }
}
