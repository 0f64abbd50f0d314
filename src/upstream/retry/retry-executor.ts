import type { PendingCall, ResponseHandler, RpcResponse } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { type AttemptListener, sendAttempt } from '../attempt.ts';
import type { PendingRequest } from '../exchange.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import { hedgeAfterMs, roundBackoffMs, throttleWaitMs, timeoutOf } from './backoff.ts';
import { HedgeAttempt, type HedgeListener } from './hedge-attempt.ts';
import type { HedgeCandidate } from './hedge-timer.ts';
import { recordOutcome, reportAttempt, reportSuperseded } from './record-outcome.ts';
import { applyOutcome, canRetry, conclude, failureOf, recordMissingCapabilities } from './retry-decision.ts';
import type { RetryState } from './retry-state.ts';
import { hasRespondingNode, nextWithinBudget, selectHedgeNode, selectNode } from './select-node.ts';

const canceled: Outcome = { kind: 'aborted', wasSent: false };

/** A result that has begun to come, as far as it is known what it is. */
const streamStarted: Outcome = {
  kind: 'answer',
  response: { body: Buffer.alloc(0), errorCode: 0 },
  preflight: null,
};

/**
 * Walks with a call from node to node: an attempt under way, and maybe one at a second node because the first is late;
 * or a pause; or over.
 */
export class RetryExecutor implements PendingCall, AttemptListener, HedgeCandidate, HedgeListener {
  previousCandidate: HedgeCandidate | null = null;
  nextCandidate: HedgeCandidate | null = null;
  readonly #state: RetryState;
  readonly #handler: ResponseHandler;
  #pending: PendingRequest | null = null;
  #hedge: HedgeAttempt | null = null;
  /** When the newest attempt began. */
  #attemptedAt = 0;
  /** How many there were: one may have ended, and the next have begun, before it is known what was posted. */
  #attempts = 0;
  #timer: NodeJS.Timeout | null = null;
  /** A place in its budget is kept for this call. */
  #reserved: UpstreamNode | null = null;
  #isOver = false;
  #isCanceled = false;

  constructor(state: RetryState, handler: ResponseHandler) {
    this.#state = state;
    this.#handler = handler;
    if (state.hedgeBudget === null || state.nodes.length < 2) return;
    state.hedgeBudget.earn();
    state.group.hedgeTimer.add(this);
  }

  cancel(): void {
    if (this.#isOver || this.#state.traits.outlivesCaller) return;
    this.#isCanceled = true;
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#refundReserved();
      this.#fail(failureOf(this.#state, canceled));
      return;
    }
    // Whichever of the two is first fails the call, and takes the other with it.
    if (this.#state.activeNode !== null) this.#pending?.abort();
    else this.#hedge?.abort();
  }

  onOutcome(outcome: Outcome, elapsedMs: number): void {
    const node = this.#state.activeNode as UpstreamNode;
    this.#state.activeNode = null;
    this.#pending = null;
    this.#handleOutcome(node, outcome, elapsedMs);
  }

  /** Of whoever takes long results while they come. */
  get acceptsStream(): boolean {
    return !this.#isOver && this.#handler.stream != null;
  }

  /** The call has come to its answer, which goes on while nobody asks any further. */
  onStream(response: StreamedResponse, elapsedMs: number): void {
    const node = this.#state.activeNode as UpstreamNode;
    this.#state.activeNode = null;
    this.#pending = null;
    this.#handleStream(node, response, elapsedMs);
  }

  /** How the attempt at the second node ended. */
  onHedgeOutcome(outcome: Outcome, elapsedMs: number): void {
    const node = this.#state.hedgeNode as UpstreamNode;
    this.#state.hedgeNode = null;
    this.#hedge = null;
    this.#handleOutcome(node, outcome, elapsedMs);
  }

  /** The attempt at the second node has come to a long result. */
  onHedgeStream(response: StreamedResponse, elapsedMs: number): void {
    const node = this.#state.hedgeNode as UpstreamNode;
    this.#state.hedgeNode = null;
    this.#hedge = null;
    this.#handleStream(node, response, elapsedMs);
  }

  /** Asks the next node, now or after a pause. @param now - `performance.now()`, in this turn of the event loop. */
  tryNext(now = performance.now()): void {
    const state = this.#state;
    if (!canRetry(state)) {
      this.#conclude();
      return;
    }
    // Chosen and counted as in flight within one tick, so that a burst of calls sees its own weight.
    const node = selectNode(state, now);
    if (node !== null && state.attemptsAt(node) === 0) this.#sendTo(node, now);
    else if (node !== null) this.#retryNode(node, now);
    else this.#retryLater(now);
  }

  checkHedge(now: number): void {
    const state = this.#state;
    this.#expireFailing(now);
    const slowNode = state.activeNode ?? state.hedgeNode;
    if (slowNode === null || (state.activeNode !== null && state.hedgeNode !== null)) return;
    if (now - this.#attemptedAt < hedgeAfterMs(state, slowNode)) return;
    // Whether or not there is another: it is looked for as often as one would be asked.
    this.#attemptedAt = now;
    const node = selectHedgeNode(state, now);
    if (node === null || state.isOutOfTime(now) || state.hedgeBudget?.spend() !== true) return;
    node.hedges++;
    if (state.activeNode === null) this.#sendTo(node, now);
    else this.#sendHedge(node, now);
  }

  /** One that gives no answers any more, to nobody, is not waited for while another may be asked. */
  #expireFailing(now: number): void {
    const { activeNode, hedgeNode } = this.#state;
    const isActiveFailing = activeNode?.isFailing === true;
    const isHedgeFailing = hedgeNode?.isFailing === true;
    if (!(isActiveFailing || isHedgeFailing) || !hasRespondingNode(this.#state, now)) return;
    if (isActiveFailing) this.#pending?.expire();
    if (isHedgeFailing) this.#hedge?.expire();
  }

  #handleOutcome(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
    const state = this.#state;
    const wasOver = this.#isOver;
    if (wasOver && !this.#isCanceled) {
      reportSuperseded(state, node, elapsedMs);
      return;
    }
    try {
      reportAttempt(state, node, outcome, elapsedMs);
      recordOutcome(state, node, outcome, elapsedMs);
      if (wasOver) return;
      const response = applyOutcome(state, node, outcome);
      if (response !== null) this.#end(response);
      else if (!state.isActive) this.tryNext();
    } catch (thrown) {
      if (!wasOver) this.#fail(thrown);
    }
  }

  #handleStream(node: UpstreamNode, response: StreamedResponse, elapsedMs: number): void {
    try {
      reportAttempt(this.#state, node, streamStarted, elapsedMs);
      recordOutcome(this.#state, node, streamStarted, elapsedMs);
      recordMissingCapabilities(this.#state);
      this.#stop();
      this.#handler.stream?.onStream(response);
    } catch (thrown) {
      response.cancel();
      this.#fail(thrown);
    }
  }

  #retryNode(node: UpstreamNode, now: number): void {
    const ms = roundBackoffMs(this.#state, node);
    if (ms === 0) this.#sendTo(node, now);
    else this.#pause(ms);
  }

  /** After a pause, because all rest or have had what they are to get for now. */
  #retryLater(now: number): void {
    const state = this.#state;
    const throttleMs = throttleWaitMs(state);
    const soonest = state.best === null ? nextWithinBudget(state, now) : null;
    const waitMs = soonest?.budget?.waitMs(now) ?? Number.POSITIVE_INFINITY;
    if (soonest !== null && waitMs <= state.limits.restWaitMaxMs && waitMs <= (throttleMs ?? waitMs)) {
      soonest.budget?.spend(now);
      this.#reserved = soonest;
      this.#pause(waitMs);
    } else if (throttleMs !== null) this.#pause(throttleMs);
    else this.#conclude();
  }

  #pause(ms: number): void {
    const remainingMs = this.#state.deadline - performance.now();
    this.#timer = setTimeout(() => this.#resume(), Math.max(0, Math.min(ms, remainingMs)));
  }

  #resume(): void {
    this.#timer = null;
    const reserved = this.#reserved;
    this.#refundReserved();
    const now = performance.now();
    this.#sendTo(reserved ?? selectNode(this.#state, now), now);
  }

  #refundReserved(): void {
    this.#reserved?.budget?.refund();
    this.#reserved = null;
  }

  #sendTo(node: UpstreamNode | null, now: number): void {
    const state = this.#state;
    if (node === null || state.isOutOfTime(now)) {
      this.#conclude();
      return;
    }
    const attempt = ++this.#attempts;
    state.activeNode = node;
    state.lastNode = node;
    this.#attemptedAt = now;
    const pending = sendAttempt(node, state.call, timeoutOf(state, now), this, now);
    // It may have ended already, and the next attempt have begun.
    if (this.#isOver || this.#attempts !== attempt || state.activeNode === null) return;
    this.#pending = pending;
    if (this.#isCanceled) pending.abort();
  }

  /** Puts the call to a second node, while the first goes on. */
  #sendHedge(node: UpstreamNode, now: number): void {
    const state = this.#state;
    const hedge = new HedgeAttempt(this);
    this.#hedge = hedge;
    state.hedgeNode = node;
    hedge.send(state.call, node, timeoutOf(state, now), now);
  }

  #conclude(): void {
    try {
      this.#end(conclude(this.#state));
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #end(response: RpcResponse): void {
    this.#stop();
    this.#handler.onResponse(response);
  }

  #fail(thrown: unknown): void {
    this.#stop();
    this.#handler.onError(thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown }));
  }

  /** Ends what is still under way, which is heard of at once. */
  #stop(): void {
    this.#isOver = true;
    if (this.#state.hedgeBudget !== null) this.#state.group.hedgeTimer.remove(this);
    this.#pending?.abort();
    this.#hedge?.abort();
  }
}
