import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { referenceSlot } from '../slots/reference-slot.ts';
import { newer } from './gap/continuity.ts';

/** What is known of how far one node is. */
type NodeSlots = Readonly<{
  /** What it answered to a poll a moment ago; null when it did not. */
  polled: Slot | null;
  /** The newest that any of its connections told of; null before the first. */
  observed: Slot | null;
}>;

/** Slots that a message of a node may be ahead of what that node said before: minutes. */
const LEAD_MAX_SLOTS = 500n;
/** A node this far beyond all that is believed of its network is not ahead of it, but wrong: about four days. */
const NETWORK_LEAD_MAX_SLOTS = 1_000_000n;

/**
 * How far a node is: as far as it tells over PubSub, unless it contradicts itself.
 * @param leadMax - slots that a connection may be ahead of a poll, which is a moment old.
 */
function slotOfNode({ polled, observed }: NodeSlots, leadMax: bigint): Slot | null {
  if (polled === null || observed === null || observed <= polled + leadMax) return newer(polled, observed);
  return slotOf(polled + leadMax);
}

/** How far the network is: each node has one voice, however many connections it has. Null while unknown. */
export function trustedSlot(nodes: readonly NodeSlots[], lagMaxSlots: number): Slot | null {
  const slots = nodes.map((node) => slotOfNode(node, BigInt(lagMaxSlots)));
  return referenceSlot(
    slots.filter((slot) => slot !== null),
    lagMaxSlots,
  );
}

/**
 * The newest slot that a connection may tell of now.
 * @param known.last - the newest that it told of itself.
 * @param known.network - how far the network is believed to be.
 * @returns null while nothing is known to measure it against.
 */
export function maxPlausibleSlot(
  observed: Readonly<{ last: Slot | null; polled: Slot | null; network: Slot | null }>,
): Slot | null {
  const ownSlot = newer(observed.last, observed.polled);
  const network = observed.network === null ? null : observed.network + NETWORK_LEAD_MAX_SLOTS;
  if (ownSlot === null) return network === null ? null : slotOf(network);
  const most = ownSlot + LEAD_MAX_SLOTS;
  return slotOf(network !== null && network < most ? network : most);
}
