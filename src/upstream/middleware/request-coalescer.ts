import type { Call, PendingCall, ResponseHandler, RpcDispatcher, RpcResponse } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { methodTraits } from '../../protocol/methods.ts';
import type { StreamedResponse, StreamHandler } from '../../protocol/streamed-response.ts';
import type { Slot } from '../../solana/units.ts';
import { reportsSlot } from '../slots/context-slot.ts';
import { type CallKey, type CallKeys, isSameCall } from './call-key.ts';
import type { ResponseCounts } from './response-counts.ts';

export const coalescerLimits = {
  /** Maximum distinct calls in flight that can be joined; further calls are not coalesced. */
  callsMax: 8_192,
  /** Maximum total number of callers waiting for calls that they joined; 0 disables joining. */
  waitingMax: 65_536,
  /** Maximum age of a call that can be joined: an older call's response may predate the new request. */
  joinMaxMs: 400,
};

export type CoalescerLimits = Readonly<typeof coalescerLimits>;

export type StartedCall = Readonly<{
  call: Call;
  /** On the `performance.now()` clock. */
  startedAt: number;
  slot: Slot | null;
}>;

/** Receives each upstream response once, however many callers share it. Must not throw. */
export interface CoalescedListener {
  /** null: the response is not passed to `onResponse`. */
  keyFor(call: Call): CallKey | null;
  /** The known slot at the call's commitment. */
  slotFor(call: Call, key: CallKey): Slot | null;
  /** @returns the response to deliver: the same bytes that later callers receive. */
  onResponse(started: StartedCall, key: CallKey, response: RpcResponse): RpcResponse;
}

export type RequestCoalescerOptions = Readonly<{
  keys: CallKeys;
  counts: ResponseCounts;
  listener: CoalescedListener | null;
  /** Dispatcher for calls whose response may be cached on disk; default: the next dispatcher. */
  diskCache?: RpcDispatcher | null;
  limits?: Partial<CoalescerLimits>;
  now?: () => number;
}>;

const clientGone = ({ network }: Call): Failure => new Failure('CLIENT_GONE', { facts: { network } });

class JoinedCall implements PendingCall {
  readonly handler: ResponseHandler;
  readonly call: Call;
  readonly startedAt: number;
  readonly #inFlight: InFlightCall;

  constructor(inFlight: InFlightCall, call: Call, handler: ResponseHandler, startedAt: number) {
    this.#inFlight = inFlight;
    this.call = call;
    this.handler = handler;
    this.startedAt = startedAt;
  }

  cancel(): void {
    this.#inFlight.cancelJoined(this);
  }
}

/** Also serves as the first caller's PendingCall, so that a call without joiners allocates no further object. */
class InFlightCall implements StartedCall, ResponseHandler, PendingCall, StreamHandler {
  readonly call: Call;
  readonly key: CallKey | null;
  readonly startedAt: number;
  readonly slot: Slot | null;
  readonly #fingerprint: number;
  readonly #calls: RequestCoalescer;
  /** null once canceled. */
  #first: ResponseHandler | null;
  #others: Set<JoinedCall> | null = null;
  pending: PendingCall | null = null;
  #isSettled = false;
  isAbandoned = false;

  constructor(
    calls: RequestCoalescer,
    call: Call,
    fingerprint: number,
    startedAt: number,
    handler: ResponseHandler,
  ) {
    const { listener } = calls;
    this.#calls = calls;
    this.call = call;
    this.#fingerprint = fingerprint;
    this.startedAt = startedAt;
    this.key = listener?.keyFor(call) ?? null;
    this.slot = this.key === null ? null : (listener?.slotFor(call, this.key) ?? null);
    this.#first = handler;
  }

  join(call: Call, handler: ResponseHandler, now: number): PendingCall {
    const joined = new JoinedCall(this, call, handler, now);
    this.#others ??= new Set();
    this.#others.add(joined);
    return joined;
  }

  cancel(): void {
    const first = this.#first;
    if (first === null || this.#isSettled) return;
    this.#first = null;
    this.#cancelIfUnused();
    first.onError(clientGone(this.call));
  }

  cancelJoined(joined: JoinedCall): void {
    if (this.#isSettled || this.#others?.delete(joined) !== true) return;
    this.#calls.waiting--;
    this.#cancelIfUnused();
    joined.handler.onError(clientGone(joined.call));
  }

  /** Streams only to a sole caller. Once streaming has started, the call cannot be joined. */
  get stream(): StreamHandler | null {
    const isAlone = this.#others === null || this.#others.size === 0;
    return isAlone && this.#first?.stream != null ? this : null;
  }

  onStream(response: StreamedResponse): void {
    this.#end();
    this.#first?.stream?.onStream(response);
  }

  onResponse(received: RpcResponse): void {
    if (this.#isSettled) return;
    this.#end();
    const { listener } = this.#calls;
    const response = (this.key !== null && listener?.onResponse(this, this.key, received)) || received;
    this.#first?.onResponse(response);
    if (this.#others === null) return;
    for (const { call, handler, startedAt } of this.#takeOthers()) {
      call.trace?.onServedFrom?.('shared', startedAt);
      handler.onResponse(response);
    }
  }

  onError(failure: Failure): void {
    if (this.#isSettled) return;
    this.#end();
    this.#first?.onError(failure);
    for (const { handler } of this.#takeOthers()) handler.onError(failure);
  }

  #cancelIfUnused(): void {
    if (this.#first !== null || (this.#others?.size ?? 0) > 0) return;
    this.isAbandoned = true;
    this.#end();
    this.pending?.cancel();
  }

  #end(): void {
    this.#isSettled = true;
    const { inFlight } = this.#calls;
    if (inFlight.get(this.#fingerprint) === this) inFlight.delete(this.#fingerprint);
  }

  #takeOthers(): ReadonlySet<JoinedCall> {
    const others = this.#others;
    if (others === null) return noJoiners;
    this.#calls.waiting -= others.size;
    return others;
  }
}

const noJoiners: ReadonlySet<JoinedCall> = new Set();

/** Sends identical concurrent calls once. All callers share the response bytes, which are read-only. */
export class RequestCoalescer implements RpcDispatcher {
  readonly #next: RpcDispatcher;
  readonly #diskCache: RpcDispatcher;
  readonly #keys: CallKeys;
  readonly #counts: ResponseCounts;
  readonly listener: CoalescedListener | null;
  readonly #limits: CoalescerLimits;
  readonly #now: () => number;
  /** Keyed by fingerprint. Of two different calls with equal fingerprints, only the later call can be joined. */
  readonly inFlight = new Map<number, InFlightCall>();
  waiting = 0;

  constructor(
    next: RpcDispatcher,
    { keys, counts, listener, diskCache, limits, now }: RequestCoalescerOptions,
  ) {
    this.#next = next;
    this.#diskCache = diskCache ?? next;
    this.#keys = keys;
    this.#counts = counts;
    this.listener = listener;
    this.#limits = { ...coalescerLimits, ...limits };
    this.#now = now ?? (() => performance.now());
  }

  get calls(): number {
    return this.inFlight.size;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    if (!this.#keys.isShared(call)) return this.#next.dispatch(call, handler);
    if (methodTraits[call.row.kind].coalescedIfRepeated && !this.#keys.isRepeated(call))
      return this.#next.dispatch(call, handler);
    const now = this.#now();
    const fingerprint = this.#keys.fingerprintOf(call);
    const inFlight = this.inFlight.get(fingerprint);
    if (inFlight !== undefined && this.#mayJoin(inFlight, call, now)) {
      this.#counts.shared++;
      this.waiting++;
      return inFlight.join(call, handler, now);
    }
    if (this.inFlight.size >= this.#limits.callsMax) return this.#next.dispatch(call, handler);
    const created = new InFlightCall(this, call, fingerprint, now, handler);
    this.inFlight.set(fingerprint, created);
    created.pending = (call.usesDisk === true ? this.#diskCache : this.#next).dispatch(call, created);
    if (created.isAbandoned) created.pending.cancel();
    return created;
  }

  #mayJoin({ call: first, startedAt }: InFlightCall, call: Call, now: number): boolean {
    if (this.waiting >= this.#limits.waitingMax || now - startedAt > this.#limits.joinMaxMs) return false;
    // If the response reports no slot, a session cannot tell whether the response is too old.
    const isUncertain = call.minSlot != null && call.minSlot !== first.minSlot && !reportsSlot(call.row);
    return !isUncertain && isSameCall(first, call);
  }
}
