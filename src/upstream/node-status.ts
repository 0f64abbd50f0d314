import type { NodeHealth } from './health/node-health.ts';
import {
  ejectionRows,
  type NodeState,
  reasonOfFailing,
  reasonOfFault,
  stateOfFault,
} from './health/node-state.ts';
import type { UpstreamNode } from './node.ts';

const ALL_NODES_CORDONED = 'cordoned, but still used because every node of this network is cordoned';

function stateAndReasonOf(
  node: UpstreamNode,
  networkNodes: readonly UpstreamNode[],
  isDrained: boolean,
): { state: NodeState; reason: string | null } {
  const now = performance.now();
  if (node.wrongChain) return { state: stateOf(node, now), reason: reasonOf(node, now) };
  if (isDrained) {
    const reason = node.cordon === null || node.cordon === '' ? 'drained by the operator' : node.cordon;
    return { state: node.inFlight > 0 ? 'draining' : 'drained', reason };
  }
  const isStillUsed =
    node.cordon !== null && networkNodes.every((other) => other.cordon !== null || other.wrongChain);
  if (isStillUsed) return { state: ownStateOf(node, now), reason: ALL_NODES_CORDONED };
  return { state: stateOf(node, now), reason: reasonOf(node, now) };
}

/** @param drained - receives no calls, even if all other nodes are cordoned. */
export function statusOf(node: UpstreamNode, networkNodes: readonly UpstreamNode[], drained: boolean) {
  const now = performance.now();
  return {
    name: node.name,
    network: node.network,
    ...stateAndReasonOf(node, networkNodes, drained),
    cordoned: node.cordon !== null,
    drained,
    slot: node.slot,
    lagSlots: node.lagSlots,
    latencyMs: node.latencyMs,
    inFlight: node.inFlight,
    failuresInRow: node.circuit.consecutiveFailures,
    silentMs: node.lastResponseAt === null ? null : now - node.lastResponseAt,
    confirmedSlot: node.slots.confirmed,
    finalizedSlot: node.slots.finalized,
    unreplayedSlots: node.slots.unreplayed,
    firstAvailableBlock: node.capabilities.firstAvailable,
    lacks: node.capabilities.missing(now),
    // In the ejection window.
    recentCalls: node.recent.attempts(now),
    failedShare: node.recent.failedShare(now),
    throttledShare: node.recent.throttledShare(now),
    p70Ms: node.recent.latencyMs(0.7, now),
    requestsPerSecond: node.budget?.perSecond ?? null,
    requestsLeft: node.budget?.remaining(now) ?? null,
    hedges: node.hedges,
    copies: node.recoveryProbes,
  };
}

/** Status of a node for metrics, the control API and logs. Contains no URL and no secret. */
export type NodeStatus = Readonly<ReturnType<typeof statusOf>>;

export type NodeFeedStatus = Pick<NodeStatus, 'name' | 'network' | 'state' | 'slot' | 'silentMs'>;

export function stateOf(node: NodeHealth, now: number): NodeState {
  if (node.wrongChain) return 'wrong-chain';
  return node.cordon === null ? ownStateOf(node, now) : 'cordoned';
}

export function ownStateOf(node: NodeHealth, now: number): NodeState {
  if (node.isThrottled(now)) return 'resting';
  if (node.isFailing) return 'failing';
  if (node.slotFault !== null) return stateOfFault[node.slotFault];
  if (now < node.selfUnhealthyUntil) return 'behind';
  if (node.ejectionReason !== null) return ejectionRows[node.ejectionReason].state;
  return node.lastResponseAt === null ? 'unknown' : 'healthy';
}

export function reasonOf(node: NodeHealth, now: number): string | null {
  if (node.wrongChain) return 'genesis hash does not match its network';
  if (node.cordon === null) {
    const { slotFault, ejectionReason, lagSlots } = node;
    if (node.isThrottled(now)) return 'throttled (HTTP 429)';
    if (node.isFailing) return reasonOfFailing(node.circuit.consecutiveFailures);
    if (slotFault !== null) return reasonOfFault(slotFault, lagSlots, node.slots.unreplayed);
    if (now < node.selfUnhealthyUntil) return 'reports itself unhealthy';
    if (ejectionReason !== null)
      return `${ejectionRows[ejectionReason].cause}; polls and mirrored calls test recovery`;
    return node.isOverBudget(now) ? 'request budget exhausted' : null;
  }
  return node.cordon === '' ? 'taken out of service by the operator' : node.cordon;
}
