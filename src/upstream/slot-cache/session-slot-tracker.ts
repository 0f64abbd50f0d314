import type { Call, PendingCall, ResponseHandler, RpcDispatcher, RpcResponse } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { MinSlot, SharedMinSlot } from '../../protocol/min-slot.ts';
import type { StreamHandler } from '../../protocol/streamed-response.ts';

/** A call of a reader whose floor others keep too: they are met before it is asked, and before its answer is told. */
class SyncedCall implements PendingCall, ResponseHandler {
  readonly #source: RpcDispatcher;
  readonly #call: Call;
  readonly #minSlot: MinSlot;
  readonly #shared: SharedMinSlot;
  readonly #handler: ResponseHandler;
  #pending: PendingCall | null = null;
  #isCanceled = false;
  #isOver = false;

  constructor(
    source: RpcDispatcher,
    call: Call,
    minSlot: MinSlot,
    shared: SharedMinSlot,
    handler: ResponseHandler,
  ) {
    this.#source = source;
    this.#call = call;
    this.#minSlot = minSlot;
    this.#shared = shared;
    this.#handler = handler;
  }

  start(): void {
    this.#shared.sync(this.#minSlot, () => {
      if (this.#isCanceled) return;
      const pending = this.#source.dispatch(this.#call, this);
      if (this.#isOver) return;
      this.#pending = pending;
    });
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isCanceled = true;
    if (this.#pending !== null) this.#pending.cancel();
    else this.onError(new Failure('CLIENT_GONE', { facts: { network: this.#call.network } }));
  }

  get stream(): StreamHandler | null {
    return this.#handler.stream ?? null;
  }

  onResponse(response: RpcResponse): void {
    this.#isOver = true;
    if (response.errorCode !== 0 || !this.#shared.isAhead(this.#minSlot)) this.#handler.onResponse(response);
    else this.#shared.sync(this.#minSlot, () => this.#handler.onResponse(response));
  }

  onError(failure: Failure): void {
    this.#isOver = true;
    this.#handler.onError(failure);
  }
}

/**
 * Lets a reader whose calls several processes answer see the chain go back in none of them: each asks what the others
 * told before it reads, and tells them of what it read before it answers.
 */
export class SessionSlotTracker implements RpcDispatcher {
  readonly #source: RpcDispatcher;

  /** @param source - holds readers to their floors, and raises them. */
  constructor(source: RpcDispatcher) {
    this.#source = source;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const { minSlot } = call;
    if (minSlot?.shared == null) return this.#source.dispatch(call, handler);
    const synced = new SyncedCall(this.#source, call, minSlot, minSlot.shared, handler);
    synced.start();
    return synced;
  }
}
