import type { NodeHealth } from './node-health.ts';
import {
  type NodeState,
  reasonOfFailing,
  reasonOfFault,
  stateOfEjection,
  stateOfFault,
  textOfEjection,
} from './node-state.ts';

/** What is said of a node, by what is known of it: for logs and status pages. Times are `performance.now()`. */

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
