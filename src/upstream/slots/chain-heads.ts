import type { Commitment } from '../../protocol/commitment.ts';
import type { Slot } from '../../solana/units.ts';
import type { NodeHealth } from '../health/node-health.ts';
import { OUTVOTE_MIN } from './reference-slot.ts';
import type { ObservedSlot } from './slot-tracker.ts';

/** Nodes at the head of the chain rarely differ by more than this. */
const NEAR_SLOTS = 8n;

/** A node's slot, capped at its processed slot: a slot must be replayed before it can be confirmed or finalized. */
function slotAt({ slots }: NodeHealth, commitment: Commitment): Slot | null {
  const slot = slots[commitment];
  if (slot === null || slots.processed === null) return slot;
  return slot > slots.processed ? slots.processed : slot;
}

/** Drops the node with the highest slot if it is far ahead of at least two other nodes. */
function withoutOutlier(nodes: readonly NodeHealth[]): readonly NodeHealth[] {
  let first: NodeHealth | null = null;
  let second: Slot | null = null;
  let reporting = 0;
  for (const node of nodes) {
    const { processed } = node.slots;
    if (processed === null) continue;
    reporting++;
    const top: Slot | null = first === null ? null : first.slots.processed;
    if (top === null || processed > top) {
      second = top;
      first = node;
    } else if (second === null || processed > second) second = processed;
  }
  if (reporting < OUTVOTE_MIN || second === null) return nodes;
  const top = first?.slots.processed ?? second;
  return top - second > NEAR_SLOTS ? nodes.filter((node) => node !== first) : nodes;
}

/** The lower of the two highest slots if they are close, so that two nodes have reached it; else the highest slot. */
function headOf(nodes: readonly NodeHealth[], commitment: Commitment): ObservedSlot | null {
  let first: ObservedSlot | null = null;
  let second: ObservedSlot | null = null;
  for (const node of nodes) {
    const slot = slotAt(node, commitment);
    if (slot === null) continue;
    const observed = { slot, atMs: node.slots.observedAt(commitment) };
    if (first === null || slot > first.slot) {
      second = first;
      first = observed;
    } else if (second === null || slot > second.slot) second = observed;
  }
  if (first === null || second === null || first.slot - second.slot > NEAR_SLOTS) return first;
  return first.slot > second.slot || second.atMs > first.atMs ? second : first;
}

/** Chain heads of one network. Read on every call, but recomputed only when a node reports a slot. */
export class ChainHeads {
  readonly #heads: Record<Commitment, ObservedSlot | null> = {
    processed: null,
    confirmed: null,
    finalized: null,
  };
  readonly #readAt: Record<Commitment, number> = {
    processed: Number.NEGATIVE_INFINITY,
    confirmed: Number.NEGATIVE_INFINITY,
    finalized: Number.NEGATIVE_INFINITY,
  };

  at(commitment: Commitment): ObservedSlot | null {
    this.#readAt[commitment] = performance.now();
    return this.#heads[commitment];
  }

  isInUse(commitment: Commitment, withinMs: number, now: number): boolean {
    return now - this.#readAt[commitment] < withinMs;
  }

  update(nodes: readonly NodeHealth[]): void {
    // Drops nodes that advanced implausibly fast (unless all did) and a single outlier.
    const steady = nodes.filter(({ slots }) => !slots.isSuspect);
    const trusted = withoutOutlier(steady.length === 0 ? nodes : steady);
    this.#heads.processed = headOf(trusted, 'processed');
    this.#heads.confirmed = headOf(trusted, 'confirmed');
    this.#heads.finalized = headOf(trusted, 'finalized');
  }
}
