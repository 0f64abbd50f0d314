import type { Call, PendingCall, ResponseHandler } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import {
  hasRespondingNode,
  nextWithinBudget,
  selectHedgeNode,
  selectNode,
} from '../balancing/select-node.ts';
import type { PendingRequest } from '../exchange.ts';
import { certainCommitment } from '../middleware/call-key.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { leadingContextSlot } from '../slots/context-slot.ts';
import { type AttemptListener, sendAttempt } from './attempt.ts';
import type { HedgeCandidate } from './hedging.ts';
import {
  applyOutcome,
  canRetry,
  conclude,
  failureOf,
  hedgeAfterMs,
  recordMissingCapabilities,
  roundBackoffMs,
  throttleWaitMs,
  timeoutOf,
} from './policy.ts';
import { RetryState } from './retry-state.ts';

/**
 * Sends a call to one node after another until one responds, as far as the method's traits allow. Reads may be hedged.
 * Fails with UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, OVERLOADED or ANSWER_TOO_LARGE; with BODY_TOO_LARGE or
 * INVALID_REQUEST when every node rejected the request itself; with CLIENT_GONE when the call was canceled.
 */
export function executeWithRetry(group: NodeGroup, call: Call, handler: ResponseHandler): PendingCall {
  const state = new RetryState(call, group);
  if (group.hasEjected) group.recoveryProbes.maybeProbe(call, state.nodes);
  const executor = new RetryExecutor(state, handler);
  executor.tryNext(state.startedAt);
  return executor;
}

const canceled: Outcome = { kind: 'aborted', wasSent: false };

const streamStarted: Outcome = {
  kind: 'response',
  response: { body: Buffer.alloc(0), errorCode: 0 },
  preflight: null,
};

/** State machine of one call: one attempt in flight and at most one hedge, or a backoff timer. */
class RetryExecutor implements PendingCall, AttemptListener, HedgeCandidate {
  previousCandidate: HedgeCandidate | null = null;
  nextCandidate: HedgeCandidate | null = null;
  readonly #state: RetryState;
  readonly #handler: ResponseHandler;
  #pending: PendingRequest | null = null;
  #hedge: HedgeAttempt | null = null;
  #attemptedAt = 0;
  /** Counts attempts, because an attempt may end and the next may start before `sendAttempt` returns. */
  #attempts = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Node whose request budget holds a token reserved by this call. */
  #reserved: UpstreamNode | null = null;
  #isSettled = false;
  #isCanceled = false;

  constructor(state: RetryState, handler: ResponseHandler) {
    this.#state = state;
    this.#handler = handler;
    if (state.hedgeBudget === null) return;
    state.hedgeBudget.earn();
    state.group.hedgeTimer.add(this);
  }

  cancel(): void {
    if (this.#isSettled || this.#state.traits.outlivesCaller) return;
    this.#isCanceled = true;
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#refundReserved();
      this.#fail(failureOf(this.#state, canceled));
      return;
    }
    // Aborting one attempt fails the call, which aborts the other attempt.
    if (this.#state.activeNode !== null) this.#pending?.abort();
    else this.#hedge?.abort();
  }

  onOutcome(outcome: Outcome, elapsedMs: number): void {
    const node = this.#state.activeNode as UpstreamNode;
    this.#state.activeNode = null;
    this.#pending = null;
    this.#handleOutcome(node, outcome, elapsedMs);
  }

  get acceptsStream(): boolean {
    return !this.#isSettled && this.#handler.stream != null;
  }

  onStream(response: StreamedResponse, elapsedMs: number): void {
    const node = this.#state.activeNode as UpstreamNode;
    this.#state.activeNode = null;
    this.#pending = null;
    this.#handleStream(node, response, elapsedMs);
  }

  onHedgeOutcome(outcome: Outcome, elapsedMs: number): void {
    const node = this.#state.hedgeNode as UpstreamNode;
    this.#state.hedgeNode = null;
    this.#hedge = null;
    this.#handleOutcome(node, outcome, elapsedMs);
  }

  onHedgeStream(response: StreamedResponse, elapsedMs: number): void {
    const node = this.#state.hedgeNode as UpstreamNode;
    this.#state.hedgeNode = null;
    this.#hedge = null;
    this.#handleStream(node, response, elapsedMs);
  }

  tryNext(now = performance.now()): void {
    const state = this.#state;
    if (this.#attempts > 0 && !canRetry(state)) {
      this.#conclude();
      return;
    }
    // Select and count in one tick, so that a burst of calls is spread over the nodes.
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
    // Set even if no node is found, so that the next search waits just as long.
    this.#attemptedAt = now;
    const node = selectHedgeNode(state, slowNode, now);
    if (node === null || state.isOutOfTime(now) || state.hedgeBudget?.spend() !== true) return;
    node.hedges++;
    if (state.activeNode === null) this.#sendTo(node, now);
    else this.#sendHedge(node, now);
  }

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
    const wasSettled = this.#isSettled;
    if (wasSettled && !this.#isCanceled) {
      reportSuperseded(state, node, elapsedMs);
      return;
    }
    try {
      if (state.call.trace != null) reportAttempt(state, node, outcome, elapsedMs);
      recordOutcome(state, node, outcome, elapsedMs);
      if (wasSettled) return;
      const response = applyOutcome(state, node, outcome, elapsedMs);
      if (response !== null) {
        this.#stop();
        this.#handler.onResponse(response);
      } else if (!state.isActive) this.tryNext();
    } catch (thrown) {
      if (!wasSettled) this.#fail(thrown);
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

  #retryLater(now: number): void {
    const state = this.#state;
    const throttleMs = throttleWaitMs(state);
    const soonest = state.best === null ? nextWithinBudget(state, now) : null;
    const waitMs = soonest?.budget?.waitMs(now) ?? Number.POSITIVE_INFINITY;
    if (soonest !== null && waitMs <= state.limits.throttleWaitMaxMs && waitMs <= (throttleMs ?? waitMs)) {
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
    // The attempt may already have ended, and the next attempt started.
    if (this.#isSettled || this.#attempts !== attempt || state.activeNode === null) return;
    this.#pending = pending;
    if (this.#isCanceled) pending.abort();
  }

  #sendHedge(node: UpstreamNode, now: number): void {
    const state = this.#state;
    const hedge = new HedgeAttempt(this);
    this.#hedge = hedge;
    state.hedgeNode = node;
    hedge.send(state.call, node, timeoutOf(state, now), now);
  }

  #conclude(): void {
    try {
      const response = conclude(this.#state);
      this.#stop();
      this.#handler.onResponse(response);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #fail(thrown: unknown): void {
    this.#stop();
    this.#handler.onError(thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown }));
  }

  #stop(): void {
    this.#isSettled = true;
    if (this.#state.hedgeBudget !== null) this.#state.group.hedgeTimer.remove(this);
    this.#pending?.abort();
    this.#hedge?.abort();
  }
}

class HedgeAttempt implements AttemptListener {
  readonly #executor: RetryExecutor;
  #pending: PendingRequest | null = null;
  #hasEnded = false;

  constructor(executor: RetryExecutor) {
    this.#executor = executor;
  }

  send(call: Call, node: UpstreamNode, timeoutMs: number, now: number): void {
    const pending = sendAttempt(node, call, timeoutMs, this, now);
    if (!this.#hasEnded) this.#pending = pending;
  }

  onOutcome(outcome: Outcome, elapsedMs: number): void {
    this.#hasEnded = true;
    this.#executor.onHedgeOutcome(outcome, elapsedMs);
  }

  get acceptsStream(): boolean {
    return this.#executor.acceptsStream;
  }

  onStream(response: StreamedResponse, elapsedMs: number): void {
    this.#hasEnded = true;
    this.#executor.onHedgeStream(response, elapsedMs);
  }

  abort(): void {
    this.#pending?.abort();
  }

  expire(): void {
    this.#pending?.expire();
  }
}

/** Minimum interval between two reads of a context slot from the responses of one node. */
const SLOTS_READ_EVERY_MS = 100;

function recordSlot(state: RetryState, node: UpstreamNode, result: Buffer, now: number): void {
  node.slotsReadAt = now;
  const slot = leadingContextSlot(result);
  if (slot === null) return;
  // Recorded only if the commitment is certain, because the slot affects all callers.
  const commitment = certainCommitment(state.call);
  if (commitment === null) return;
  node.slots.observe(commitment, slot, now);
  state.group.updateHeads(now);
}

function recordOutcome(state: RetryState, node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
  const { traits, call } = state;
  node.recordOutcome(outcome, traits.mayUseWholeTimeout ? null : elapsedMs);
  if (outcome.kind !== 'response' || outcome.response.errorCode !== 0) return;
  if (traits.hedged && state.nodes.length > 1) node.latencies.record(call.row, elapsedMs);
  if (!call.row.context) return;
  const now = performance.now();
  if (now - node.slotsReadAt >= SLOTS_READ_EVERY_MS) recordSlot(state, node, outcome.response.body, now);
}

function traceAttempt(state: RetryState, node: UpstreamNode, elapsedMs: number, outcome: string): void {
  const endedAt = performance.now();
  state.call.trace?.onAttempt({ node: node.name, startedAt: endedAt - elapsedMs, endedAt, outcome });
}

function reportAttempt(state: RetryState, node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
  const isGood = outcome.kind === 'response' && outcome.response.errorCode === 0;
  traceAttempt(state, node, elapsedMs, isGood ? 'ok' : outcomeText(outcome));
}

function reportSuperseded(state: RetryState, node: UpstreamNode, elapsedMs: number): void {
  node.recordSuperseded(state.call.row, elapsedMs);
  if (state.call.trace != null) traceAttempt(state, node, elapsedMs, 'superseded by another node');
}
