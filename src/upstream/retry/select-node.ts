import type { UpstreamNode } from '../node.ts';
import type { RetryState } from './retry-state.ts';

/** Not to be asked now. */
const NOT_ELIGIBLE = Number.POSITIVE_INFINITY;
/** Nothing speaks against it. */
const USABLE = 0;
/** It gave no answers lately. */
const FAILING = 3;

/** Whether a node probably has what the call is about. What is not known does not speak against it. */
function probablyHas(state: RetryState, node: UpstreamNode, now: number): boolean {
  const { call, slot, minSlot, commitment } = state;
  if (node.capabilities.isMissing(call.method, slot, now)) return false;
  if (minSlot !== null && !node.slots.isAtLeast(commitment, minSlot)) return false;
  const { history } = call.row;
  if (history === null) return true;
  // Whoever doubts that something is not there asks one that has more.
  const needsFullHistory = history === 'address' || state.isDoubted;
  return !needsFullHistory || state.group.hasFullHistory(node);
}

/**
 * How late a fresh node's turn is. One that lacks what the call is about comes after one that is merely passed over,
 * because its answer is known; and one that gives no answers comes late because it costs the most time.
 */
function rankOf(state: RetryState, node: UpstreamNode, now: number): number {
  if (!node.isAvailable(now) || state.attemptsAt(node) > 0) return NOT_ELIGIBLE;
  const hasData = probablyHas(state, node, now);
  if (node.isFailing) return hasData ? FAILING : FAILING + 1;
  if (node.isUsable(now)) return hasData ? USABLE : 2;
  return hasData ? 1 : FAILING + 1;
}

/** The node whose turn it is of those that were not asked yet; null when none is left. */
function freshNode(state: RetryState, now: number): UpstreamNode | null {
  const { nodes, group } = state;
  const { primary, selector } = group;
  if (primary !== null && rankOf(state, primary, now) === USABLE) return primary;
  for (let i = 0; i < nodes.length; i++) selector.consider(nodes[i]!, rankOf(state, nodes[i]!, now));
  return selector.pick();
}

/**
 * One that was asked before and did not answer the question: of those, one that was asked least often, so that
 * in each round everybody has a turn. A node behind is not waited for when all have spoken: what it says of itself
 * is then the answer.
 */
function retryNode(state: RetryState, now: number): UpstreamNode | null {
  if (!state.hasUnresponsive) return null;
  const { selector } = state.group;
  for (const node of state.nodes) {
    if (
      !node.isAvailable(now) ||
      !state.isRetryable(node) ||
      node === state.activeNode ||
      node === state.hedgeNode
    )
      continue;
    selector.consider(node, 2 * state.attemptsAt(node) + (node === state.lastNode ? 1 : 0));
  }
  return selector.pick();
}

/** A node that may be asked now: fresh and good ones first, then any fresh one, then those asked before. */
export function selectNode(state: RetryState, now: number): UpstreamNode | null {
  return freshNode(state, now) ?? retryNode(state, now);
}

/** Whether everybody who is still asked has had as many turns as this node: with it a new round begins. */
export function startsRound(state: RetryState, node: UpstreamNode): boolean {
  const attempts = state.attemptsAt(node);
  return state.nodes.every((other) => !state.isRetryable(other) || state.attemptsAt(other) <= attempts);
}

/**
 * A node to be asked besides the one that is late; null when that would only make things worse: all others are bad or
 * have more calls than connections.
 */
export function selectHedgeNode(state: RetryState, now: number): UpstreamNode | null {
  const { selector } = state.group;
  for (const node of state.nodes) {
    selector.consider(node, !node.isBusy && rankOf(state, node, now) === USABLE ? USABLE : NOT_ELIGIBLE);
  }
  return selector.pick();
}

/** Whether there is a fresh node against which nothing speaks, besides the one that was just asked. */
export function hasUsableNode(state: RetryState, attempted: UpstreamNode | null): boolean {
  const now = performance.now();
  return state.nodes.some((node) => node !== attempted && rankOf(state, node, now) === USABLE);
}

/** Whether there is a fresh node that gives answers, in place of one that gives none any more. */
export function hasRespondingNode(state: RetryState, now: number): boolean {
  return state.nodes.some((node) => rankOf(state, node, now) < FAILING);
}

/** The node whose budget allows a request soonest, of those that would be asked but for it; null when there is none. */
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
