import type { UpstreamNode } from '../node.ts';
import type { Walk } from './walk.ts';

/** Not to be asked now. */
const NEVER = Number.POSITIVE_INFINITY;
/** Nothing speaks against it. */
const GOOD = 0;
/** It gave no answers lately. */
const FAILING = 3;

/** Whether a node probably has what the call is about. What is not known does not speak against it. */
function fits(walk: Walk, node: UpstreamNode, now: number): boolean {
  const { call, slot, leastSlot, commitment } = walk;
  if (node.abilities.lacks(call.method, slot, now)) return false;
  if (leastSlot !== null && !node.slots.hasReached(commitment, leastSlot)) return false;
  const { history } = call.row;
  if (history === null) return true;
  // Whoever doubts that something is not there asks one that has more.
  const needsDepth = history === 'address' || walk.doubted;
  return !needsDepth || walk.group.isDeep(node);
}

/**
 * How late a fresh node's turn is. One that lacks what the call is about comes after one that is merely passed over,
 * because its answer is known; and one that gives no answers comes late because it costs the most time.
 */
function rankOf(walk: Walk, node: UpstreamNode, now: number): number {
  if (!node.isFree(now) || walk.timesAsked(node) > 0) return NEVER;
  const isFit = fits(walk, node, now);
  if (node.isFailing) return isFit ? FAILING : FAILING + 1;
  if (node.isGood(now)) return isFit ? GOOD : 2;
  return isFit ? 1 : FAILING + 1;
}

/** The node whose turn it is of those that were not asked yet; null when none is left. */
function freshNode(walk: Walk, now: number): UpstreamNode | null {
  const { nodes, group } = walk;
  const { primary, draw } = group;
  if (primary !== null && rankOf(walk, primary, now) === GOOD) return primary;
  for (let i = 0; i < nodes.length; i++) draw.offer(nodes[i]!, rankOf(walk, nodes[i]!, now));
  return draw.take();
}

/**
 * One that was asked before and did not answer the question: of those, one that was asked least often, so that
 * in each round everybody has a turn. A node behind is not waited for when all have spoken: what it says of itself
 * is then the answer.
 */
function nodeAgain(walk: Walk, now: number): UpstreamNode | null {
  if (!walk.hasMute) return null;
  const { draw } = walk.group;
  for (const node of walk.nodes) {
    if (!node.isFree(now) || !walk.isOpen(node) || node === walk.asking || node === walk.hedging) continue;
    draw.offer(node, 2 * walk.timesAsked(node) + (node === walk.last ? 1 : 0));
  }
  return draw.take();
}

/** A node that may be asked now: fresh and good ones first, then any fresh one, then those asked before. */
export function nodeFor(walk: Walk, now: number): UpstreamNode | null {
  return freshNode(walk, now) ?? nodeAgain(walk, now);
}

/** Whether everybody who is still asked has had as many turns as this node: with it a new round begins. */
export function beginsRound(walk: Walk, node: UpstreamNode): boolean {
  const turns = walk.timesAsked(node);
  return walk.nodes.every((other) => !walk.isOpen(other) || walk.timesAsked(other) <= turns);
}

/**
 * A node to be asked besides the one that is late; null when that would only make things worse: all others are bad or
 * have more calls than connections.
 */
export function hedgeFor(walk: Walk, now: number): UpstreamNode | null {
  const { draw } = walk.group;
  for (const node of walk.nodes) {
    draw.offer(node, !node.isBusy && rankOf(walk, node, now) === GOOD ? GOOD : NEVER);
  }
  return draw.take();
}

/** Whether there is a fresh node against which nothing speaks, besides the one that was just asked. */
export function hasGoodNode(walk: Walk, asked: UpstreamNode | null): boolean {
  const now = performance.now();
  return walk.nodes.some((node) => node !== asked && rankOf(walk, node, now) === GOOD);
}

/** Whether there is a fresh node that gives answers, in place of one that gives none any more. */
export function hasLivelierNode(walk: Walk, now: number): boolean {
  return walk.nodes.some((node) => rankOf(walk, node, now) < FAILING);
}

/** The node whose budget allows a request soonest, of those that would be asked but for it; null when there is none. */
export function soonestNode(walk: Walk, now: number): UpstreamNode | null {
  let soonest: UpstreamNode | null = null;
  for (const node of walk.nodes) {
    const { budget } = node;
    if (budget === null || node.isFull() || node.isResting(now)) continue;
    if (walk.timesAsked(node) > 0 && !walk.isOpen(node)) continue;
    if (soonest?.budget == null || budget.waitMs(now) < soonest.budget.waitMs(now)) soonest = node;
  }
  return soonest;
}
