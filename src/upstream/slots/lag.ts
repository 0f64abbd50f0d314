import type { Slot } from '../../solana/units.ts';
import type { NodeHealth } from '../health/node-health.ts';
import type { SlotFault } from '../health/node-state.ts';
import { newestOf } from './newest-slot.ts';
import { referenceSlot } from './reference-slot.ts';

type LagLimits = Readonly<{ lagMaxSlots: number; stallMs: number }>;

const slotOf = (node: NodeHealth): Slot | null => node.slots.processed;

const othersAdvance = (
  nodes: readonly NodeHealth[],
  one: NodeHealth,
  stallMs: number,
  now: number,
): boolean => nodes.some((other) => other !== one && now - other.slots.movedAt < stallMs);

/** A node that jumped ahead of all others implausibly fast is not trusted while another node advances. */
function isTrusted(node: NodeHealth, all: readonly NodeHealth[], limits: LagLimits, now: number): boolean {
  const slot = slotOf(node);
  if (slot === null) return false;
  const others = newestOf(all.filter((other) => other !== node && !other.slots.isSuspect).map(slotOf));
  if (others === null || slot <= others + BigInt(limits.lagMaxSlots)) {
    node.slots.isSuspect = false;
    return true;
  }
  return !node.slots.isSuspect || !othersAdvance(all, node, limits.stallMs, now);
}

/** Hysteresis: once the lag exceeds the limit, it counts as over the limit until it falls to half the limit. */
function exceeds(lag: bigint, isOverLimit: boolean, limits: LagLimits): boolean {
  return isOverLimit ? lag * 2n > BigInt(limits.lagMaxSlots) : lag > BigInt(limits.lagMaxSlots);
}

function faultOf(
  node: NodeHealth,
  responding: readonly NodeHealth[],
  reference: Slot,
  limits: LagLimits,
  now: number,
): SlotFault | null {
  const { slots, slotFault } = node;
  const slot = slots.processed;
  if (slot === null) return null;
  if (exceeds(reference > slot ? reference - slot : 0n, slotFault === 'behind', limits)) return 'behind';
  if (exceeds(slots.unreplayed ?? 0n, slotFault === 'not-replaying', limits)) return 'not-replaying';
  // A node is stalled only if it keeps reporting the same slot, not if it reports nothing.
  const isStalled = slot < reference && slots.observedAt('processed') - slots.movedAt > limits.stallMs;
  if (isStalled && slotFault === 'stalled') return slotFault;
  if (!othersAdvance(responding, node, limits.stallMs, now)) return null;
  if (isStalled) return 'stalled';
  return exceeds(slot - reference, slotFault === 'ahead', limits) ? 'ahead' : null;
}

/** Sets lag and slot faults. Also checks received shreds: getHealth may return ok even if a node does not replay. */
export function markLag(nodes: readonly NodeHealth[], limits: LagLimits, now: number): void {
  const responding = nodes.filter((node) => !node.circuit.isTripped && !node.wrongChain);
  const trustedSlots = responding.filter((node) => isTrusted(node, responding, limits, now)).map(slotOf);
  const reference = referenceSlot(
    trustedSlots.filter((slot) => slot !== null),
    limits.lagMaxSlots,
  );
  for (const node of nodes) {
    const slot = slotOf(node);
    if (slot === null || reference === null) continue;
    node.lagSlots = reference > slot ? reference - slot : 0n;
    node.slotFault = faultOf(node, responding, reference, limits, now);
  }
}
