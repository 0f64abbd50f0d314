import type { NodeHealth } from './health/node-health.ts';
import type { EjectionReason, NodeState, SlotFault } from './health/node-state.ts';
import type { UpstreamNode } from './node.ts';

type NodeCondition = Readonly<{ state: NodeState; reason: string | null }>;

function faultCondition(fault: SlotFault, { lagSlots, slots }: NodeHealth): NodeCondition {
  switch (fault) {
    case 'behind':
      return { state: 'behind', reason: `${lagSlots} slots behind` };
    case 'not-replaying':
      return { state: 'behind', reason: `${slots.unreplayed} slots received but not replayed` };
    case 'stalled':
      return { state: 'behind', reason: 'slot does not advance while other nodes do' };
    case 'ahead':
      return { state: 'ahead', reason: 'reports slots that no other node has reached' };
  }
}

const ejectionConditions: Readonly<Record<EjectionReason, NodeCondition>> = {
  slow: { state: 'slow', reason: 'much slower than other nodes; probes test recovery' },
  failing: { state: 'failing', reason: 'failure ratio too high; probes test recovery' },
  throttling: {
    state: 'resting',
    reason: 'throttling ratio too high; probes test recovery',
  },
};

/** Ignores the operator's cordon. */
function ownConditionOf(node: NodeHealth, now: number): NodeCondition {
  const { slotFault, ejectionReason, circuit } = node;
  if (node.isThrottled(now)) return { state: 'resting', reason: 'throttled (HTTP 429)' };
  if (node.isFailing) {
    const failures = circuit.consecutiveFailures;
    const reason = failures > 1 ? `${failures} consecutive failures` : 'does not respond to polls';
    return { state: 'failing', reason };
  }
  if (slotFault !== null) return faultCondition(slotFault, node);
  if (now < node.selfUnhealthyUntil) return { state: 'behind', reason: 'reports itself unhealthy' };
  if (ejectionReason !== null) return ejectionConditions[ejectionReason];
  const reason = node.isOverBudget(now) ? 'request budget exhausted' : null;
  return { state: node.lastResponseAt === null ? 'unknown' : 'healthy', reason };
}

export function conditionOf(node: NodeHealth, now: number): NodeCondition {
  const { wrongChain, cordon } = node;
  if (wrongChain) return { state: 'wrong-chain', reason: 'genesis hash does not match its network' };
  if (cordon === null) return ownConditionOf(node, now);
  return { state: 'cordoned', reason: cordon === '' ? 'taken out of service by the operator' : cordon };
}

const stillUsedReason = (cordon: string): string =>
  `${cordon === '' ? '' : `${cordon.replace(/\.$/, '')}. `}Still in use although cordoned: no other node is available.`;

function reportedConditionOf(
  node: UpstreamNode,
  networkNodes: readonly UpstreamNode[],
  isDrained: boolean,
): NodeCondition {
  const now = performance.now();
  const { wrongChain, cordon, inFlight } = node;
  if (isDrained && !wrongChain) {
    const reason = cordon === null || cordon === '' ? 'taken out of service by an operator' : cordon;
    return { state: inFlight > 0 ? 'draining' : 'drained', reason };
  }
  const isCordoned = cordon !== null && !wrongChain;
  if (isCordoned && networkNodes.every((other) => other.cordon !== null || other.wrongChain))
    return { ...ownConditionOf(node, now), reason: stillUsedReason(cordon) };
  return conditionOf(node, now);
}

/** @param drained - whether the operator drained the node, so that it gets no calls even if all others are cordoned. */
export function statusOf(node: UpstreamNode, networkNodes: readonly UpstreamNode[], drained: boolean) {
  const now = performance.now();
  return {
    name: node.name,
    network: node.network,
    ...reportedConditionOf(node, networkNodes, drained),
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
    // The next four values cover the ejection window.
    recentCalls: node.recent.attempts(now),
    failedShare: node.recent.failedShare(now),
    throttledShare: node.recent.throttledShare(now),
    p70Ms: node.recent.latencyMs(0.7, now),
    priority: node.priority,
    weight: node.weight,
    methods: node.methods,
    requestsPerSecond: node.budget?.perSecond ?? null,
    requestsLeft: node.budget?.remaining(now) ?? null,
    counts: node.counts,
    hedges: node.hedges,
    copies: node.recoveryProbes,
  };
}

/** Status of a node for metrics, the control API and logs. Contains no URL and no secret. */
export type NodeStatus = Readonly<ReturnType<typeof statusOf>>;

export type NodeFeedStatus = Pick<NodeStatus, 'name' | 'network' | 'state' | 'slot' | 'silentMs'>;
