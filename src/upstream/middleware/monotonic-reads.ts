import { kindOf, MemberFinder, scanArray, skipSpace } from '../../base/json-scan.ts';
import type { Call, PendingCall, ResponseHandler, RpcDispatcher, RpcResponse } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { MinSlot, SharedMinSlot } from '../../protocol/min-slot.ts';
import type { StreamHandler } from '../../protocol/streamed-response.ts';
import type { Slot } from '../../solana/units.ts';
import { readObservedHeight, readObservedSlot, reportsSlot } from '../slots/context-slot.ts';
import { emptySlotTracker, isPlausible, type SlotTracker } from '../slots/slot-tracker.ts';
import type { CallKeys } from './call-key.ts';
import type { ResponseCounts } from './response-counts.ts';

const DEPTH_MAX = 127;
const NAME = 'minContextSlot';
const SLOT_TEXT = /^\d{1,20}$/;

type Span = Readonly<{ start: number; end: number }>;

function recordElement(spans: Span[], start: number, end: number): void {
  spans.push({ start, end });
}

const config = new MemberFinder([NAME]);

const splice = (bytes: Buffer, end: number, text: string, start: number): Buffer =>
  Buffer.concat([bytes.subarray(0, end), Buffer.from(text), bytes.subarray(start)]);

function withMember(bytes: Buffer, at: number, minSlot: Slot): Buffer {
  config.scan(bytes, at, DEPTH_MAX);
  const current = config.valueIn(bytes, 0)?.toString('latin1');
  if (current === undefined) {
    return splice(bytes, at + 1, `"${NAME}":${minSlot}${config.extras === 0 ? '' : ','}`, at + 1);
  }
  // A higher or invalid value from the caller is kept.
  const isLower = current === 'null' || (SLOT_TEXT.test(current) && BigInt(current) < minSlot);
  return isLower
    ? splice(bytes, config.starts[0] as number, String(minSlot), config.ends[0] as number)
    : bytes;
}

/** @returns null if a param before `index` is missing, or if the param at `index` is neither null nor an object. */
export function withMinContextSlot(params: Buffer | null, index: number, minSlot: Slot): Buffer | null {
  const bytes = params ?? Buffer.from('[]');
  const spans: Span[] = [];
  const end = scanArray(bytes, skipSpace(bytes, 0), DEPTH_MAX, spans, recordElement);
  if (end < 0 || spans.length < index) return null;
  const config = `{"${NAME}":${minSlot}}`;
  const options = spans[index];
  if (options === undefined) return splice(bytes, end - 1, index === 0 ? config : `,${config}`, end - 1);
  const kind = kindOf(bytes[options.start]);
  if (kind === 'null') return splice(bytes, options.start, config, options.end);
  return kind === 'object' ? withMember(bytes, options.start, minSlot) : null;
}

export const monotonicReadsLimits = {
  /** How long to retry a call whose response is older than the session's minimum slot. */
  waitMs: 2_000,
  /** First backoff; doubles with each retry. */
  backoffMs: 25,
};

export type MonotonicReadsLimits = Readonly<typeof monotonicReadsLimits>;

export type MonotonicReadsOptions = Readonly<{
  keys: CallKeys;
  counts: ResponseCounts;
  slots?: SlotTracker;
  limits?: Partial<MonotonicReadsLimits>;
}>;

/** Agave's error code and message. Source: rpc-client-api `custom_error.rs`. */
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;
const NOT_REACHED_TEXT = 'Minimum context slot has not been reached';

function minSlotNotReached(slot: Slot | null): RpcResponse {
  const data = slot === null ? '' : `,"data":{"contextSlot":${slot}}`;
  return {
    body: Buffer.from(`{"code":${MIN_CONTEXT_SLOT_NOT_REACHED},"message":"${NOT_REACHED_TEXT}"${data}}`),
    errorCode: MIN_CONTEXT_SLOT_NOT_REACHED,
    attempts: [],
  };
}

const isBelow = (minSlot: MinSlot['heights'], commitment: Commitment, observed: Slot | null): boolean =>
  observed !== null && observed < minSlot.at(commitment);

const BACKOFF_MAX_MS = 400;

type Parts = MonotonicReadsOptions &
  Readonly<{ next: RpcDispatcher; limits: MonotonicReadsLimits; slots: SlotTracker }>;

type Requirements = Readonly<{ minSlot: MinSlot; commitment: Commitment; configIndex: number | null }>;

class MonotonicCall implements PendingCall, ResponseHandler {
  readonly #parts: Parts;
  readonly #call: Call;
  readonly #requirements: Requirements;
  readonly #handler: ResponseHandler;
  /** Set by the first response that is too old. */
  #deadline = 0;
  #pending: PendingCall | null = null;
  #timer: NodeJS.Timeout | null = null;
  #attempts = 0;
  /** Whether we added minContextSlot to the call in flight. */
  #hasMinContextSlot = false;
  #isSettled = false;
  #isCanceled = false;

  constructor(parts: Parts, call: Call, requirements: Requirements, handler: ResponseHandler) {
    this.#parts = parts;
    this.#call = call;
    this.#requirements = requirements;
    this.#handler = handler;
  }

  send(hasMinContextSlot: boolean): void {
    const attempts = ++this.#attempts;
    const pending = this.#parts.next.dispatch(this.#callFor(hasMinContextSlot), this);
    // The call may already have ended or started a retry.
    if (this.#isSettled || this.#attempts !== attempts || this.#timer !== null) return;
    this.#pending = pending;
    if (this.#isCanceled) pending.cancel();
  }

  cancel(): void {
    if (this.#isSettled) return;
    this.#isCanceled = true;
    if (this.#timer === null) {
      this.#pending?.cancel();
      return;
    }
    clearTimeout(this.#timer);
    const { network } = this.#call;
    this.onError(new Failure('CLIENT_GONE', { facts: { network } }));
  }

  /** null if the response reports a slot, which can only be read from the complete response. */
  get stream(): StreamHandler | null {
    return reportsSlot(this.#call.row) ? null : (this.#handler.stream ?? null);
  }

  onResponse(response: RpcResponse): void {
    const { minSlot, commitment } = this.#requirements;
    if (response.errorCode !== 0) {
      // Retried only if our minContextSlot caused the error, not the caller's.
      if (response.errorCode === MIN_CONTEXT_SLOT_NOT_REACHED && this.#hasMinContextSlot)
        this.#retry(response);
      else this.#end(response);
      return;
    }
    const { row } = this.#call;
    const observed = readObservedSlot(row, response.body);
    const height = readObservedHeight(row, response.body);
    if (isBelow(minSlot, commitment, observed) || isBelow(minSlot.heights, commitment, height)) {
      this.#parts.counts.backward++;
      this.#retry(minSlotNotReached(observed));
      return;
    }
    if (observed !== null && this.#isPlausible(observed)) minSlot.raise(commitment, observed);
    // A block's height never exceeds its slot, so the same check applies.
    if (height !== null && this.#isPlausible(height)) minSlot.heights.raise(commitment, height);
    this.#end(response);
  }

  onError(failure: Failure): void {
    this.#isSettled = true;
    this.#handler.onError(failure);
  }

  /** A false slot from one node must not block the session. */
  #isPlausible(observed: Slot): boolean {
    // The processed head is always polled and never below the other heads.
    return isPlausible(observed, this.#parts.slots.slotAt(this.#call.network, 'processed'));
  }

  #end(response: RpcResponse): void {
    this.#isSettled = true;
    this.#handler.onResponse(response);
  }

  /** Retries at once if the method accepts minContextSlot and the last attempt lacked it; else after a backoff. */
  #retry(last: RpcResponse): void {
    this.#pending = null;
    const { configIndex } = this.#requirements;
    if (this.#deadline === 0) this.#deadline = performance.now() + this.#parts.limits.waitMs;
    if (this.#isCanceled || performance.now() >= this.#deadline) {
      this.#end(last);
      return;
    }
    if (configIndex !== null && !this.#hasMinContextSlot && this.#attempts === 1) {
      this.send(true);
      return;
    }
    const backoffMs = Math.min(this.#parts.limits.backoffMs * 2 ** (this.#attempts - 1), BACKOFF_MAX_MS);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.send(true);
    }, backoffMs);
  }

  #callFor(hasMinContextSlot: boolean): Call {
    const { minSlot, commitment, configIndex } = this.#requirements;
    const slot = minSlot.at(commitment);
    this.#hasMinContextSlot = false;
    if (!hasMinContextSlot || configIndex === null || slot === 0n) return this.#call;
    const params = withMinContextSlot(this.#call.params, configIndex, slot);
    // The params also stay the same if the caller already requires this slot or a higher slot.
    if (params === null || params === this.#call.params) return this.#call;
    this.#hasMinContextSlot = true;
    return { ...this.#call, params };
  }
}

/** Syncs a session's minimum slots with other processes, before a call and before its response is delivered. */
class SyncedCall implements PendingCall, ResponseHandler {
  readonly #reads: MonotonicReads;
  readonly #call: Call;
  readonly #minSlot: MinSlot;
  readonly #shared: SharedMinSlot;
  readonly #handler: ResponseHandler;
  #pending: PendingCall | null = null;
  #isCanceled = false;
  #isSettled = false;

  constructor(
    reads: MonotonicReads,
    call: Call,
    minSlot: MinSlot,
    shared: SharedMinSlot,
    handler: ResponseHandler,
  ) {
    this.#reads = reads;
    this.#call = call;
    this.#minSlot = minSlot;
    this.#shared = shared;
    this.#handler = handler;
  }

  start(): void {
    this.#shared.sync(this.#minSlot, () => {
      if (this.#isCanceled) return;
      const pending = this.#reads.dispatchLocal(this.#call, this.#minSlot, this);
      if (this.#isSettled) return;
      this.#pending = pending;
    });
  }

  cancel(): void {
    if (this.#isSettled) return;
    this.#isCanceled = true;
    if (this.#pending !== null) this.#pending.cancel();
    else this.onError(new Failure('CLIENT_GONE', { facts: { network: this.#call.network } }));
  }

  get stream(): StreamHandler | null {
    return this.#handler.stream ?? null;
  }

  onResponse(response: RpcResponse): void {
    this.#isSettled = true;
    if (response.errorCode !== 0 || !this.#shared.isAhead(this.#minSlot)) this.#handler.onResponse(response);
    else this.#shared.sync(this.#minSlot, () => this.#handler.onResponse(response));
  }

  onError(failure: Failure): void {
    this.#isSettled = true;
    this.#handler.onError(failure);
  }
}

/** Retries calls whose responses are older than what the session has seen. After `waitMs`, returns Agave's error. */
export class MonotonicReads implements RpcDispatcher {
  readonly #parts: Parts;

  constructor(next: RpcDispatcher, options: MonotonicReadsOptions) {
    const limits = { ...monotonicReadsLimits, ...options.limits };
    this.#parts = { slots: emptySlotTracker, ...options, next, limits };
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const { minSlot } = call;
    if (minSlot == null) return this.#parts.next.dispatch(call, handler);
    if (minSlot.shared === null) return this.dispatchLocal(call, minSlot, handler);
    const synced = new SyncedCall(this, call, minSlot, minSlot.shared, handler);
    synced.start();
    return synced;
  }

  dispatchLocal(call: Call, minSlot: MinSlot, handler: ResponseHandler): PendingCall {
    const key = this.#parts.keys.keyOf(call);
    if (key === null || key.commitment === null) return this.#parts.next.dispatch(call, handler);
    const requirements = {
      minSlot,
      commitment: key.commitment,
      // Index of the options object if the method accepts minContextSlot.
      configIndex: key.policy.config === 'context' ? call.row.configIndex : null,
    };
    const read = new MonotonicCall(this.#parts, call, requirements, handler);
    // The first attempt may use the cache if the response reports its slot, which is then checked.
    read.send(!reportsSlot(call.row));
    return read;
  }
}
