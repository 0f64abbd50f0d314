import type { Call, PendingCall, ResponseHandler, RpcResponse } from '../../protocol/call.ts';
import { type CallAttempt, Failure, type FailureCode } from '../../protocol/errors.ts';
import { methodTraits } from '../../protocol/methods.ts';
import type { PendingRequest } from '../exchange.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { type AttemptListener, sendAttempt } from '../retry/attempt.ts';
import { decideRetry, rejectionCodeOf } from '../retry/decision.ts';
import { minSlotOf } from '../retry/retry-state.ts';
import { commitmentOf, firstSlotOf, leadingContextSlot, memberOf } from '../slots/context-slot.ts';
import type { UpstreamPool } from '../upstream-pool.ts';

export type QuorumReadParts = Readonly<{
  pool: Pick<UpstreamPool, 'nodesFor'>;
  /** Number of nodes that get the call at once. */
  nodes: number;
  /** Number of nodes whose responses must agree. */
  agreementThreshold: number;
  limits: Pick<UpstreamLimits, 'attemptsMax' | 'timeoutMs' | 'attemptTimeoutMs'>;
}>;

/** Responses that agree. */
type ResponseGroup = { readonly content: Buffer | number; response: RpcResponse; count: number };

/** Whether the node is healthy and probably has the data. */
function isReady({ method, row, params }: Call, node: UpstreamNode, now: number): boolean {
  if (!node.isHealthy(now) || !node.isAvailable(now)) return false;
  if (row.history !== null && node.capabilities.archive === false) return false;
  return !node.capabilities.isMissing(method, row.history === 'slot' ? firstSlotOf(params) : null, now);
}

/** Ready nodes in the order of use: those that have reached the minimum slot of the call, then by tier and load. */
function readyNodes(call: Call, pool: QuorumReadParts['pool'], now: number): UpstreamNode[] {
  const minSlot = minSlotOf(call);
  const commitment = commitmentOf(call);
  const isBehind = ({ slots }: UpstreamNode): number =>
    minSlot === null || slots.isAtLeast(commitment, minSlot) ? 0 : 1;
  return pool
    .nodesFor(call.network, call.method)
    .filter((node) => isReady(call, node, now))
    .sort((a, b) => isBehind(a) - isBehind(b) || a.tier - b.tier || a.inFlight - b.inFlight);
}

/** What must agree: the code of an error; of a result with a context, only the value, because slots differ. */
function contentOf({ row }: Call, { errorCode, body }: RpcResponse): Buffer | number {
  if (errorCode !== 0) return errorCode;
  const hasContext = row.context || leadingContextSlot(body) !== null;
  return (hasContext ? memberOf(body, 'value') : null) ?? body;
}

const isSame = (one: Buffer | number, other: Buffer | number): boolean =>
  typeof one === 'number' || typeof other === 'number' ? one === other : one.equals(other);

const slotOf = ({ body }: RpcResponse): bigint => leadingContextSlot(body) ?? 0n;

function failureCodeOf(failures: readonly Outcome[]): FailureCode {
  const has = (kind: Outcome['kind']): boolean => failures.some((outcome) => outcome.kind === kind);
  if (has('too-large')) return 'ANSWER_TOO_LARGE';
  if (has('over-budget')) return 'OVERLOADED';
  const hasTimedOut = failures.some((outcome) => outcome.kind === 'transport' && outcome.timedOut);
  return rejectionCodeOf(failures) ?? (hasTimedOut ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE');
}

/** One call that several nodes get. A node that fails to serve it is replaced by the next ready node. */
export class QuorumRead implements PendingCall {
  readonly #call: Call;
  readonly #handler: ResponseHandler;
  readonly #parts: QuorumReadParts;
  readonly #deadline: number;
  /** Ready nodes that have not been sent the call. */
  readonly #remainingNodes: UpstreamNode[];
  readonly #inFlight = new Set<QuorumAttempt>();
  /** Responses, and errors that say only that a node cannot serve the call now. */
  readonly #groups: ResponseGroup[] = [];
  readonly #refusals: ResponseGroup[] = [];
  readonly #attempts: CallAttempt[] = [];
  /** Outcomes without a response. */
  readonly #failures: Outcome[] = [];
  #isStarted = false;
  #isSettled = false;

  constructor(call: Call, handler: ResponseHandler, parts: QuorumReadParts) {
    const now = performance.now();
    this.#call = call;
    this.#handler = handler;
    this.#parts = parts;
    this.#deadline = now + parts.limits.timeoutMs;
    this.#remainingNodes = readyNodes(call, parts.pool, now).slice(0, parts.limits.attemptsMax);
  }

  start(): void {
    const { nodes, agreementThreshold } = this.#parts;
    // Sends nothing if too few nodes could agree.
    if (this.#remainingNodes.length >= agreementThreshold)
      for (let sent = 0; sent < nodes; sent++) this.#sendToNext();
    this.#isStarted = true;
    this.#concludeIfDone();
  }

  cancel(): void {
    if (!this.#isSettled) this.#fail('CLIENT_GONE');
  }

  onOutcome(attempt: QuorumAttempt, outcome: Outcome, elapsedMs: number): void {
    this.#inFlight.delete(attempt);
    const { node } = attempt;
    if (this.#isSettled) {
      node.recordSuperseded(this.#call.row, elapsedMs);
      this.#report(node, elapsedMs, 'superseded by other nodes');
      return;
    }
    const { kind } = this.#call.row;
    node.recordOutcome(outcome, methodTraits[kind].mayUseWholeTimeout ? null : elapsedMs);
    this.#attempts.push(this.#report(node, elapsedMs, outcomeText(outcome)));
    const isRefusal = ['retry', 'retry-elsewhere'].includes(decideRetry(kind, outcome));
    if (outcome.kind === 'response') {
      const group = this.#count(isRefusal ? this.#refusals : this.#groups, outcome.response);
      if (!isRefusal && group.count >= this.#parts.agreementThreshold) {
        this.#respond(group);
        return;
      }
    } else this.#failures.push(outcome);
    if (isRefusal) this.#sendToNext();
    this.#concludeIfDone();
  }

  #sendToNext(): void {
    const now = performance.now();
    const remainingMs = this.#deadline - now;
    const node = remainingMs > 0 && !this.#isSettled ? this.#remainingNodes.shift() : undefined;
    if (node === undefined) return;
    const { attemptTimeoutMs } = this.#parts.limits;
    const isSlow = methodTraits[this.#call.row.kind].mayUseWholeTimeout;
    const attempt = new QuorumAttempt(node, this);
    this.#inFlight.add(attempt);
    attempt.send(this.#call, isSlow ? remainingMs : Math.min(remainingMs, attemptTimeoutMs), now);
  }

  #count(groups: ResponseGroup[], response: RpcResponse): ResponseGroup {
    const content = contentOf(this.#call, response);
    const found = groups.find((group) => isSame(group.content, content));
    if (found === undefined) {
      const group = { content, response, count: 1 };
      groups.push(group);
      return group;
    }
    found.count++;
    // The session of the caller may need the newer slot.
    if (slotOf(response) > slotOf(found.response)) found.response = response;
    return found;
  }

  #concludeIfDone(): void {
    if (this.#isSettled || !this.#isStarted || this.#inFlight.size > 0) return;
    const { agreementThreshold } = this.#parts;
    const refusal = this.#refusals.find(({ count }) => count >= agreementThreshold);
    const responses = this.#groups.reduce((sum, { count }) => sum + count, 0);
    if (responses >= agreementThreshold) this.#fail('NODES_DISAGREE');
    else if (refusal !== undefined) this.#respond(refusal);
    else this.#fail(failureCodeOf(this.#failures));
  }

  #respond({ response }: ResponseGroup): void {
    this.#settle();
    const { errorCode } = response;
    this.#handler.onResponse(errorCode === 0 ? response : { ...response, attempts: this.#attempts });
  }

  #fail(code: FailureCode): void {
    this.#settle();
    const { network } = this.#call;
    this.#handler.onError(new Failure(code, { facts: { network }, attempts: this.#attempts }));
  }

  #settle(): void {
    this.#isSettled = true;
    for (const attempt of this.#inFlight) attempt.abort();
  }

  #report({ name }: UpstreamNode, elapsedMs: number, outcome: string): CallAttempt {
    const endedAt = performance.now();
    const attempt: CallAttempt = { node: name, startedAt: endedAt - elapsedMs, endedAt, outcome };
    this.#call.trace?.onAttempt(attempt);
    return attempt;
  }
}

class QuorumAttempt implements AttemptListener {
  readonly node: UpstreamNode;
  readonly #read: QuorumRead;
  #pending: PendingRequest | null = null;
  #hasEnded = false;

  constructor(node: UpstreamNode, read: QuorumRead) {
    this.node = node;
    this.#read = read;
  }

  send(call: Call, timeoutMs: number, now: number): void {
    const pending = sendAttempt(this.node, call, timeoutMs, this, now);
    // The attempt may already have ended.
    if (!this.#hasEnded) this.#pending = pending;
  }

  onOutcome(outcome: Outcome, elapsedMs: number): void {
    this.#hasEnded = true;
    this.#read.onOutcome(this, outcome, elapsedMs);
  }

  abort(): void {
    this.#pending?.abort();
  }
}
