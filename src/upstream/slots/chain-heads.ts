import type { Commitment } from '../../protocol/commitment.ts';
import type { Slot } from '../../solana/units.ts';
import type { NodeHealth } from '../health/node-health.ts';
import { OUTVOTE_MIN } from './reference-slot.ts';
import type { ObservedSlot } from './slot-tracker.ts';

/** Two nodes that are at the head are hardly ever further from each other. */
const NEAR_SLOTS = 8n;

/** The slot of a node at a commitment that it can answer for: nothing is final that it has not replayed. */
function slotAt({ slots }: NodeHealth, commitment: Commitment): Slot | null {
  const slot = slots[commitment];
  if (slot === null || slots.processed === null) return slot;
  return slot > slots.processed ? slots.processed : slot;
}

/** Without the one node that is ahead of two or more others that tell where they are; all where none is alone. */
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

/** Those that are believed: not one that came ahead faster than any chain goes, nor one that is alone so far ahead. */
function trustedNodes(nodes: readonly NodeHealth[]): readonly NodeHealth[] {
  const steady = nodes.filter(({ slots }) => !slots.isSuspect);
  return withoutOutlier(steady.length === 0 ? nodes : steady);
}

/**
 * The newest slot that the nodes can answer for: of two that are near each other what both have come to, so that it is
 * not one that a single node is alone with, unless nobody can tell which of two is right.
 */
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

/** The heads of one network, read for every call and made anew when a node tells of its slots. */
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

  /** Whether anybody wanted to know it in the last while. */
  isInUse(commitment: Commitment, withinMs: number, now: number): boolean {
    return now - this.#readAt[commitment] < withinMs;
  }

  /** @param nodes - those that are healthy and asked. */
  update(nodes: readonly NodeHealth[]): void {
    const trusted = trustedNodes(nodes);
    this.#heads.processed = headOf(trusted, 'processed');
    this.#heads.confirmed = headOf(trusted, 'confirmed');
    this.#heads.finalized = headOf(trusted, 'finalized');
  }
}
