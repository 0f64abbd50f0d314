import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { newer } from '../slots/newest-slot.ts';
import { referenceSlot } from '../slots/reference-slot.ts';

type NodeSlots = Readonly<{ polled: Slot | null; observed: Slot | null }>;

/** Number of slots by which a notification may be ahead of the node's own last slot (a few minutes). */
const LEAD_MAX_SLOTS = 500n;
/** A node that is further ahead of its network than this many slots (about four days) must be wrong. */
const NETWORK_LEAD_MAX_SLOTS = 1_000_000n;

/** The node's slot, limited to `leadMax` slots ahead of its last polled slot. */
function slotOfNode({ polled, observed }: NodeSlots, leadMax: bigint): Slot | null {
  if (polled === null || observed === null || observed <= polled + leadMax) return newer(polled, observed);
  return slotOf(polled + leadMax);
}

/** The network's slot, with one vote per node; null while unknown. */
export function trustedSlot(nodes: readonly NodeSlots[], lagMaxSlots: number): Slot | null {
  const slots = nodes.map((node) => slotOfNode(node, BigInt(lagMaxSlots)));
  return referenceSlot(
    slots.filter((slot) => slot !== null),
    lagMaxSlots,
  );
}

/** The highest slot that a connection may plausibly report; null while nothing is known. */
export function maxPlausibleSlot(
  observed: Readonly<{ last: Slot | null; polled: Slot | null; network: Slot | null }>,
): Slot | null {
  const ownSlot = newer(observed.last, observed.polled);
  const network = observed.network === null ? null : observed.network + NETWORK_LEAD_MAX_SLOTS;
  if (ownSlot === null) return network === null ? null : slotOf(network);
  const highest = ownSlot + LEAD_MAX_SLOTS;
  return slotOf(network !== null && network < highest ? network : highest);
}
