import type { Call, RpcResponse } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import type { CallAttempt } from '../../protocol/errors.ts';
import { type MethodTraits, methodTraits } from '../../protocol/methods.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { commitmentOf, firstSlotOf, minContextSlotOf } from '../slots/context-slot.ts';
import type { HedgeBudget } from './hedging.ts';

export type AttemptStep = Readonly<{
  node: UpstreamNode;
  outcome: Outcome;
  elapsedMs: number;
  /** On the `performance.now()` clock. */
  endedAt: number;
  /** The node returned no usable response. It may be retried when no untried node is left. */
  hasNoUsableResponse: boolean;
  /** The node reported that it is behind. It may be retried if another node did not respond. */
  isBehind: boolean;
}>;

const NO_STEPS: AttemptStep[] = [];

/** Maximum number of attempts to report with an error. */
const ATTEMPTS_MAX = 16;

/** An attempt is started only if at least this much time remains. */
const ATTEMPT_MIN_MS = 5;

/** State of one call across its attempts. Times are on the `performance.now()` clock. */
export class RetryState {
  readonly call: Call;
  readonly group: NodeGroup;
  readonly nodes: readonly UpstreamNode[];
  readonly limits: UpstreamLimits;
  readonly traits: MethodTraits;
  readonly startedAt: number;
  readonly deadline: number;
  /** Until this time, the call is retried while connections are refused. */
  readonly reconnectUntil: number;
  /** Slot of the requested history; null if the call names no slot or the slot does not matter. */
  readonly slot: bigint | null;
  /** Slot that a node must have reached at `commitment`; null: any. */
  readonly minSlot: bigint | null;
  readonly commitment: Commitment;
  /** null if the call cannot, or must not, run on two nodes. */
  readonly hedgeBudget: HedgeBudget | null;
  activeNode: UpstreamNode | null = null;
  hedgeNode: UpstreamNode | null = null;
  /** Node of the last attempt; other nodes are retried first. */
  lastNode: UpstreamNode | null = null;
  /** Number of attempts, not counting refused connections. */
  countedAttempts = 0;
  connectFailed = false;
  /** Most informative error or null result so far. */
  best: RpcResponse | null = null;
  /** A null result or an error awaits confirmation; the next response is accepted. */
  awaitsConfirmation = false;
  ambiguous = false;
  timedOut = false;
  isTooLarge = false;
  backoffs = 0;
  steps: readonly AttemptStep[] = NO_STEPS;

  constructor(call: Call, group: NodeGroup) {
    const { limits } = group;
    const nodes = group.nodesFor(call.method);
    const traits = methodTraits[call.row.kind];
    const startedAt = performance.now();
    this.call = call;
    this.group = group;
    this.nodes = nodes;
    this.limits = limits;
    this.traits = traits;
    this.startedAt = startedAt;
    this.deadline = startedAt + limits.timeoutMs;
    this.reconnectUntil = startedAt + limits.reconnectMaxMs;
    // With a single node, the inputs of node selection are not needed.
    const hasChoice = nodes.length > 1;
    this.slot = hasChoice && call.row.history === 'slot' ? firstSlotOf(call.params) : null;
    this.minSlot = hasChoice ? minSlotOf(call) : null;
    this.commitment = this.minSlot === null ? 'processed' : commitmentOf(call);
    this.hedgeBudget = hasChoice ? hedgeBudgetOf(traits, group) : null;
  }

  addStep(step: AttemptStep): void {
    this.steps = [...this.steps, step];
    this.isTooLarge ||= step.outcome.kind === 'too-large';
  }

  /** The last failed attempts. */
  get attempts(): CallAttempt[] {
    return this.steps.slice(-ATTEMPTS_MAX).map(({ node, outcome, elapsedMs, endedAt }) => ({
      node: node.name,
      startedAt: endedAt - elapsedMs,
      endedAt,
      outcome: outcomeText(outcome),
    }));
  }

  isOutOfTime(now: number): boolean {
    return now > this.deadline - ATTEMPT_MIN_MS;
  }

  get isActive(): boolean {
    return this.activeNode !== null || this.hedgeNode !== null;
  }

  /** Includes attempts in flight. */
  attemptsAt(node: UpstreamNode): number {
    let times = node === this.activeNode || node === this.hedgeNode ? 1 : 0;
    for (const step of this.steps) if (step.node === node) times++;
    return times;
  }

  /** Whether another attempt at the node may give a different result. */
  isRetryable(node: UpstreamNode): boolean {
    return this.steps.some((step) => step.node === node && (step.hasNoUsableResponse || step.isBehind));
  }

  get hasUnusableResponse(): boolean {
    return this.steps.some(({ hasNoUsableResponse }) => hasNoUsableResponse);
  }
}

function hedgeBudgetOf(
  { hedged, mayUseWholeTimeout, singleNode }: MethodTraits,
  group: NodeGroup,
): HedgeBudget | null {
  if (hedged) return group.hedgeBudget;
  return mayUseWholeTimeout && !singleNode ? group.scanHedgeBudget : null;
}

/** Minimum slot from the params or from the session, whichever is higher. */
export function minSlotOf(call: Call): bigint | null {
  const { row, minSlot } = call;
  const named = minContextSlotOf(call);
  if (minSlot == null || row.history !== null || !(row.context || row.commitment !== null)) return named;
  const observed: bigint = minSlot.at(commitmentOf(call));
  if (observed === 0n) return named;
  return named === null || observed > named ? observed : named;
}
