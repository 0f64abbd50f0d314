import type { Network } from '../protocol/call.ts';
import type { Slot } from '../solana/units.ts';
import type { NodeHealth } from './health/node-health.ts';
import {
  type NodeState,
  reasonOfFailing,
  reasonOfFault,
  stateOfEjection,
  stateOfFault,
  textOfEjection,
} from './health/node-state.ts';
import type { UpstreamNode } from './node.ts';

/** What is known about a node right now. Holds no URL and no secret. */
export type NodeStatus = Readonly<{
  name: string;
  network: Network;
  state: NodeState;
  /** What stands behind the state, in words; null when nothing is to be said. */
  reason: string | null;
  /** Whether the operator took it out of service. */
  cordoned: boolean;
  /** Whether no call goes there, even when all others are out of service. */
  drained: boolean;
  /** Newest processed slot it reported. */
  slot: Slot | null;
  /** Slots behind the best of its network. */
  lagSlots: bigint | null;
  latencyMs: number | null;
  inFlight: number;
  failuresInRow: number;
  /** Milliseconds since it last answered anything. */
  silentMs: number | null;
  /** The newest slots that it told of at the commitments that are settled more. */
  confirmedSlot: Slot | null;
  finalizedSlot: Slot | null;
  /** Slots of which it has shreds that it has not replayed; null where it does not tell. */
  unreplayedSlots: bigint | null;
  /** The first block that it has; null where it does not tell. */
  firstAvailableBlock: Slot | null;
  /** Methods of which it lacks something that another node has. */
  lacks: readonly string[];
  /** Calls of the last while, the shares of those that failed and were throttled, and what most of them took. */
  recentCalls: number;
  failedShare: number | null;
  throttledShare: number | null;
  p70Ms: number | null;
  /** What it may be asked a second, and how much of it is left; null: there is no limit. */
  requestsPerSecond: number | null;
  requestsLeft: number | null;
  /** Since the start: calls that were put to it because another node was late, and copies of calls to try it. */
  hedges: number;
  copies: number;
}>;

/** What feeds need to know of a node. */
export type NodeFeedStatus = Pick<NodeStatus, 'name' | 'network' | 'state' | 'slot' | 'silentMs'>;

/** What is said of a node out of service that is asked for want of others. */
const ALL_NODES_CORDONED = 'cordoned, and asked all the same: so is every node of the network';

/** What a node's state is called, and what stands behind it. */
function stateAndReasonOf(
  node: UpstreamNode,
  networkNodes: readonly UpstreamNode[],
  isDrained: boolean,
): Pick<NodeStatus, 'state' | 'reason'> {
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

/** What is known of a node. @param ofNetwork - all nodes of its network. */
export function statusOf(
  node: UpstreamNode,
  networkNodes: readonly UpstreamNode[],
  drained: boolean,
): NodeStatus {
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

/** One word for how it is. */
export function stateOf(node: NodeHealth, now: number): NodeState {
  if (node.wrongChain) return 'wrong-chain';
  return node.cordon === null ? ownStateOf(node, now) : 'cordoned';
}

/** The same, whatever the operator says of it. */
export function ownStateOf(node: NodeHealth, now: number): NodeState {
  if (node.isThrottled(now)) return 'resting';
  if (node.isFailing) return 'failing';
  if (node.slotFault !== null) return stateOfFault[node.slotFault];
  if (now < node.selfUnhealthyUntil) return 'behind';
  if (node.ejectionReason !== null) return stateOfEjection[node.ejectionReason];
  return node.lastResponseAt === null ? 'unknown' : 'healthy';
}

/** What stands behind the state; null when nothing is to be said. */
export function reasonOf(node: NodeHealth, now: number): string | null {
  if (node.wrongChain) return 'belongs to another chain than its network';
  if (node.cordon === null) return ownReasonOf(node, now);
  return node.cordon === '' ? 'taken out of service by the operator' : node.cordon;
}

function ownReasonOf(node: NodeHealth, now: number): string | null {
  const { slotFault, ejectionReason, lagSlots } = node;
  if (node.isThrottled(now)) return 'asked to be left alone for a while';
  if (node.isFailing) return reasonOfFailing(node.circuit.consecutiveFailures);
  if (slotFault !== null) return reasonOfFault(slotFault, lagSlots, node.slots.unreplayed);
  if (now < node.selfUnhealthyUntil) return 'says that it is behind';
  if (ejectionReason !== null) return textOfEjection[ejectionReason];
  return node.isOverBudget(now) ? 'has had as many requests as it is to get for now' : null;
}
