import { PRIORITY_MAX } from '../limits.ts';
import { TIER_MAX, type UpstreamNode } from '../node.ts';
import type { RetryState } from '../retry/retry-state.ts';

const NOT_ELIGIBLE = Number.POSITIVE_INFINITY;
const USABLE = 0;
/** Rank of a failing node that probably has the data. */
const FAILING = 3;

/** Whether the node probably has the data; true if unknown. */
function probablyHas(state: RetryState, node: UpstreamNode, now: number): boolean {
  const { call, slot, minSlot, commitment } = state;
  if (node.capabilities.isMissing(call.method, slot, now)) return false;
  if (minSlot !== null && !node.slots.isAtLeast(commitment, minSlot)) return false;
  const { history } = call.row;
  if (history === null) return true;
  // Only a node with full history can confirm that data does not exist.
  const needsFullHistory = history === 'address' || state.awaitsConfirmation;
  return !needsFullHistory || state.group.hasFullHistory(node);
}

/**
 * Rank of an untried node; lower is better. A usable node that lacks the data ranks after an ejected node that has
 * it, since a response without the data is no help. A failing node ranks after both, as waiting for it takes longest.
 */
function rankOf(state: RetryState, node: UpstreamNode, now: number): number {
  if (!node.isAvailable(now) || state.attemptsAt(node) > 0) return NOT_ELIGIBLE;
  const hasData = probablyHas(state, node, now);
  if (node.isFailing) return hasData ? FAILING : FAILING + 1;
  if (node.isUsable(now)) return hasData ? USABLE : 2;
  return hasData ? 1 : FAILING + 1;
}

/** Orders nodes by rank first, so that the health of a node outweighs its priority. */
const withTier = (rank: number, { tier }: UpstreamNode): number => rank * (TIER_MAX + 1) + tier;

function freshNode(state: RetryState, now: number): UpstreamNode | null {
  const { nodes, group } = state;
  const { primary, selector } = group;
  if (primary !== null && nodes.includes(primary) && rankOf(state, primary, now) === USABLE) return primary;
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!;
    selector.consider(node, withTier(rankOf(state, node, now), node));
  }
  return selector.pick();
}

/** Picks the retryable node with the fewest attempts, so that each round covers every node; null if all responded. */
function retryNode(state: RetryState, now: number): UpstreamNode | null {
  if (!state.hasUnusableResponse) return null;
  const { selector } = state.group;
  for (const node of state.nodes) {
    const isInFlight = node === state.activeNode || node === state.hedgeNode;
    if (isInFlight || !node.isAvailable(now) || !state.isRetryable(node)) continue;
    const rank = 2 * state.attemptsAt(node) + (node === state.lastNode ? 1 : 0);
    selector.consider(node, withTier(rank, node));
  }
  return selector.pick();
}

/** Picks the node for the next attempt: the best untried node, else a retryable node; null if there is none. */
export function selectNode(state: RetryState, now: number): UpstreamNode | null {
  const [node] = state.nodes;
  // For the first attempt, a single node needs no ranking: it is used if it accepts another request.
  if (node !== undefined && state.nodes.length === 1 && state.steps.length === 0)
    return node.isAvailable(now) ? node : null;
  return freshNode(state, now) ?? retryNode(state, now);
}

export function startsRound(state: RetryState, node: UpstreamNode): boolean {
  const attempts = state.attemptsAt(node);
  return state.nodes.every((other) => !state.isRetryable(other) || state.attemptsAt(other) <= attempts);
}

/** A hedge never goes to a node of a worse priority than the slow node, which may still respond. */
export function selectHedgeNode(state: RetryState, slowNode: UpstreamNode, now: number): UpstreamNode | null {
  const { selector } = state.group;
  for (const node of state.nodes) {
    const isEligible = !node.isBusy && node.priority <= slowNode.priority;
    selector.consider(node, isEligible && rankOf(state, node, now) === USABLE ? node.tier : NOT_ELIGIBLE);
  }
  return selector.pick();
}

export function hasUsableNode(state: RetryState): boolean {
  const now = performance.now();
  return state.nodes.some((node) => rankOf(state, node, now) === USABLE);
}

/** Whether another node can confirm a null. One of a worse priority confirms only for a node that lacks history. */
export function hasConfirmingNode(state: RetryState, attempted: UpstreamNode): boolean {
  const now = performance.now();
  const priorityMax = state.group.hasFullHistory(attempted) ? attempted.priority : PRIORITY_MAX;
  return state.nodes.some(
    (node) => node !== attempted && node.priority <= priorityMax && rankOf(state, node, now) === USABLE,
  );
}

export function hasRespondingNode(state: RetryState, now: number): boolean {
  return state.nodes.some((node) => rankOf(state, node, now) < FAILING);
}

/** Picks the node whose request budget refills first; null if no node is limited by its budget alone. */
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
