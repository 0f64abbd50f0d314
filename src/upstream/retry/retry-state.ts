import type { Call, RpcResponse } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodTraits, methodTraits } from '../../protocol/methods.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import type { Outcome } from '../outcome.ts';
import { commitmentOf, firstSlotOf, minContextSlotOf } from '../slots/context-slot.ts';
import type { HedgeBudget } from './hedging.ts';

export type AttemptStep = Readonly<{
  node: UpstreamNode;
  outcome: Outcome;
  /** Retryable when no fresh node is left. */
  hasNoResponse: boolean;
  /** The node only reported that it is behind. Retryable if another node did not respond. */
  isBehind: boolean;
}>;

const NO_STEPS: readonly AttemptStep[] = [];

/** An attempt with less remaining time is not started. */
const ATTEMPT_MIN_MS = 5;

/** State of one call across its attempts. Times are `performance.now()`. */
export class RetryState {
  readonly call: Call;
  readonly group: NodeGroup;
  readonly nodes: readonly UpstreamNode[];
  readonly limits: UpstreamLimits;
  readonly traits: MethodTraits;
  readonly startedAt = performance.now();
  readonly deadline: number;
  /** Until then, attempts without a connection are not counted. */
  readonly reconnectUntil: number;
  /** Slot of the requested history; null if not named or irrelevant. */
  readonly slot: bigint | null;
  /** Minimum slot of the node at `commitment`; null: any. */
  readonly minSlot: bigint | null;
  readonly commitment: Commitment;
  activeNode: UpstreamNode | null = null;
  hedgeNode: UpstreamNode | null = null;
  /** Retried last: others come first. */
  lastNode: UpstreamNode | null = null;
  /** Attempts that may have been sent. */
  sent = 0;
  refused = false;
  /** Most informative error or null result so far. */
  best: RpcResponse | null = null;
  /** One null or error was not accepted without confirmation; the next is. */
  isDoubted = false;
  /** A node may have executed the request. */
  ambiguous = false;
  timedOut = false;
  backoffs = 0;
  #steps: AttemptStep[] | null = null;

  constructor(call: Call, group: NodeGroup) {
    this.call = call;
    this.group = group;
    this.nodes = group.serving;
    this.limits = group.limits;
    this.traits = methodTraits[call.row.kind];
    this.deadline = this.startedAt + this.limits.timeoutMs;
    this.reconnectUntil = this.startedAt + this.limits.reconnectMaxMs;
    // With one node, nothing that selection depends on is needed.
    const hasChoice = this.nodes.length > 1;
    this.slot = hasChoice && call.row.history === 'slot' ? firstSlotOf(call.params) : null;
    this.minSlot = hasChoice ? minSlotOf(call) : null;
    this.commitment = this.minSlot === null ? 'processed' : commitmentOf(call);
  }

  /** Ended attempts, for the cause of a failure. */
  get steps(): readonly AttemptStep[] {
    return this.#steps ?? NO_STEPS;
  }

  addStep(step: AttemptStep): void {
    if (this.#steps === null) this.#steps = [step];
    else this.#steps.push(step);
  }

  /** Budget of hedges; null if the call must not run on two nodes. */
  get hedgeBudget(): HedgeBudget | null {
    const { hedged, takesAllTheTime, oneNode } = this.traits;
    if (hedged) return this.group.hedgeBudget;
    return takesAllTheTime && !oneNode ? this.group.scanHedgeBudget : null;
  }

  isOutOfTime(now: number): boolean {
    return now > this.deadline - ATTEMPT_MIN_MS;
  }

  get isActive(): boolean {
    return this.activeNode !== null || this.hedgeNode !== null;
  }

  /** Number of attempts at the node, including those in flight. */
  attemptsAt(node: UpstreamNode): number {
    let times = node === this.activeNode || node === this.hedgeNode ? 1 : 0;
    for (const step of this.steps) if (step.node === node) times++;
    return times;
  }

  /** Whether another attempt at the node may give a different result. */
  isRetryable(node: UpstreamNode): boolean {
    return this.steps.some((step) => step.node === node && (step.hasNoResponse || step.isBehind));
  }

  get isTooLarge(): boolean {
    return this.steps.some(({ outcome }) => outcome.kind === 'too-large');
  }

  get hasUnresponsive(): boolean {
    return this.steps.some(({ hasNoResponse }) => hasNoResponse);
  }
}

/** Minimum slot from the params or from the session, whichever is higher. */
function minSlotOf(call: Call): bigint | null {
  const { row, minSlot } = call;
  const named = minContextSlotOf(call);
  if (minSlot == null || row.history !== null || !(row.context || row.commitment !== null)) return named;
  const observed: bigint = minSlot.at(commitmentOf(call));
  if (observed === 0n) return named;
  return named === null || observed > named ? observed : named;
}
