import type { UpstreamNode } from '../node.ts';
import type { RetryState } from '../retry/retry-state.ts';

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

/** The node of the next attempt: the best untried one, else a retryable one; null if there is none. */
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
