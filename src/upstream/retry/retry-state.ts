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
  /** The node reported that it is behind. It is retried if another node did not respond. */
  isBehind: boolean;
}>;

const NO_STEPS: AttemptStep[] = [];

/** An attempt with less remaining time is not started. */
const ATTEMPT_MIN_MS = 5;

/** State of one call across its attempts. Times are `performance.now()`. */
export class RetryState {
  readonly call: Call;
  readonly group: NodeGroup;
  readonly nodes: readonly UpstreamNode[];
  readonly limits: UpstreamLimits;
  readonly traits: MethodTraits;
  readonly startedAt: number;
  readonly deadline: number;
  /** Before it, attempts without a connection are not counted. */
  readonly reconnectUntil: number;
  /** Slot of the requested history; null if not named or irrelevant. */
  readonly slot: bigint | null;
  /** Minimum slot of the node at `commitment`; null: any. */
  readonly minSlot: bigint | null;
  readonly commitment: Commitment;
  /** null if the call cannot, or must not, run on two nodes. */
  readonly hedgeBudget: HedgeBudget | null;
  activeNode: UpstreamNode | null = null;
  hedgeNode: UpstreamNode | null = null;
  /** Other nodes are retried first. */
  lastNode: UpstreamNode | null = null;
  /** Attempts that may have been sent. */
  sent = 0;
  connectionRefused = false;
  /** Most informative error or null result so far. */
  best: RpcResponse | null = null;
  /** A null result or an error awaits confirmation; the next response is accepted. */
  isDoubted = false;
  ambiguous = false;
  timedOut = false;
  isTooLarge = false;
  backoffs = 0;
  steps: readonly AttemptStep[] = NO_STEPS;

  constructor(call: Call, group: NodeGroup) {
    const { limits, serving: nodes } = group;
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
    // With one node, nothing that selection depends on is needed.
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

  isOutOfTime(now: number): boolean {
    return now > this.deadline - ATTEMPT_MIN_MS;
  }

  get isActive(): boolean {
    return this.activeNode !== null || this.hedgeNode !== null;
  }

  /** Including those in flight. */
  attemptsAt(node: UpstreamNode): number {
    let times = node === this.activeNode || node === this.hedgeNode ? 1 : 0;
    for (const step of this.steps) if (step.node === node) times++;
    return times;
  }

  /** Whether another attempt at the node may give a different result. */
  isRetryable(node: UpstreamNode): boolean {
    return this.steps.some((step) => step.node === node && (step.hasNoResponse || step.isBehind));
  }

  get hasUnresponsive(): boolean {
    return this.steps.some(({ hasNoResponse }) => hasNoResponse);
  }
}

function hedgeBudgetOf(
  { hedged, takesAllTheTime, oneNode }: MethodTraits,
  group: NodeGroup,
): HedgeBudget | null {
  if (hedged) return group.hedgeBudget;
  return takesAllTheTime && !oneNode ? group.scanHedgeBudget : null;
}

/** From the params or from the session, whichever is higher. */
function minSlotOf(call: Call): bigint | null {
  const { row, minSlot } = call;
  const named = minContextSlotOf(call);
  if (minSlot == null || row.history !== null || !(row.context || row.commitment !== null)) return named;
  const observed: bigint = minSlot.at(commitmentOf(call));
  if (observed === 0n) return named;
  return named === null || observed > named ? observed : named;
}

const NOT_ELIGIBLE = Number.POSITIVE_INFINITY;
const USABLE = 0;
/** Rank of a node that did not respond recently. */
const FAILING = 3;

/** Unknown counts as yes. */
function probablyHas(state: RetryState, node: UpstreamNode, now: number): boolean {
  const { call, slot, minSlot, commitment } = state;
  if (node.capabilities.isMissing(call.method, slot, now)) return false;
  if (minSlot !== null && !node.slots.isAtLeast(commitment, minSlot)) return false;
  const { history } = call.row;
  if (history === null) return true;
  // An absence is confirmed by a node with full history.
  const needsFullHistory = history === 'address' || state.isDoubted;
  return !needsFullHistory || state.group.hasFullHistory(node);
}

/**
 * Rank of an untried node; lower is better. A node that lacks the data ranks below an ejected one, since its
 * response is known; a failing node ranks low because it costs the most time.
 */
function rankOf(state: RetryState, node: UpstreamNode, now: number): number {
  if (!node.isAvailable(now) || state.attemptsAt(node) > 0) return NOT_ELIGIBLE;
  const hasData = probablyHas(state, node, now);
  if (node.isFailing) return hasData ? FAILING : FAILING + 1;
  if (node.isUsable(now)) return hasData ? USABLE : 2;
  return hasData ? 1 : FAILING + 1;
}

function freshNode(state: RetryState, now: number): UpstreamNode | null {
  const { nodes, group } = state;
  const { primary, selector } = group;
  if (primary !== null && rankOf(state, primary, now) === USABLE) return primary;
  for (let i = 0; i < nodes.length; i++) selector.consider(nodes[i]!, rankOf(state, nodes[i]!, now));
  return selector.pick();
}

/** The node with the fewest attempts, so that each round covers all nodes; none if all nodes responded. */
function retryNode(state: RetryState, now: number): UpstreamNode | null {
  if (!state.hasUnresponsive) return null;
  const { selector } = state.group;
  for (const node of state.nodes) {
    const isInFlight = node === state.activeNode || node === state.hedgeNode;
    if (isInFlight || !node.isAvailable(now) || !state.isRetryable(node)) continue;
    selector.consider(node, 2 * state.attemptsAt(node) + (node === state.lastNode ? 1 : 0));
  }
  return selector.pick();
}

export function selectNode(state: RetryState, now: number): UpstreamNode | null {
  const [node] = state.nodes;
  // With one node there is no choice, only whether it takes another request.
  if (node !== undefined && state.nodes.length === 1 && state.steps.length === 0)
    return node.isAvailable(now) ? node : null;
  return freshNode(state, now) ?? retryNode(state, now);
}

export function startsRound(state: RetryState, node: UpstreamNode): boolean {
  const attempts = state.attemptsAt(node);
  return state.nodes.every((other) => !state.isRetryable(other) || state.attemptsAt(other) <= attempts);
}

export function selectHedgeNode(state: RetryState, now: number): UpstreamNode | null {
  const { selector } = state.group;
  for (const node of state.nodes) {
    selector.consider(node, !node.isBusy && rankOf(state, node, now) === USABLE ? USABLE : NOT_ELIGIBLE);
  }
  return selector.pick();
}

export function hasUsableNode(state: RetryState, attempted: UpstreamNode | null): boolean {
  const now = performance.now();
  return state.nodes.some((node) => node !== attempted && rankOf(state, node, now) === USABLE);
}

export function hasRespondingNode(state: RetryState, now: number): boolean {
  return state.nodes.some((node) => rankOf(state, node, now) < FAILING);
}

/** null if no node is limited by its request budget alone. */
export function nextWithinBudget(state: RetryState, now: number): UpstreamNode | null {
  let soonest: UpstreamNode | null = null;
  for (const node of state.nodes) {
    const { budget } = node;
    if (budget === null || node.isFull() || node.isThrottled(now)) continue;
    if (state.attemptsAt(node) > 0 && !state.isRetryable(node)) continue;
    if (soonest?.budget == null || budget.waitMs(now) < soonest.budget.waitMs(now)) soonest = node;
  }
  return soonest;
}
