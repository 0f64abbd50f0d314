import type { Network } from '../../protocol/call.ts';
import type { Slot } from '../../solana/units.ts';
import type { SlotTracker } from '../slots/slot-tracker.ts';

/** A root that goes back by more slots than this is that of another chain: nodes that are behind differ by less. */
const SAME_CHAIN_SLOTS = 500n;

/** What is known of the finalized roots: what the nodes tell, and where they tell nothing, what answers said. */
export class FinalizedRoots {
  readonly #slots: SlotTracker;
  readonly #onChainReset: (network: Network) => void;
  readonly #newest = new Map<Network, Slot>();
  readonly #observed = new Map<Network, Slot>();

  /** @param onOtherChain - hears when a network begins anew, as one for tests does: what was final is not any more. */
  constructor(slots: SlotTracker, onChainReset: (network: Network) => void) {
    this.#slots = slots;
    this.#onChainReset = onChainReset;
  }

  /** An answer at `finalized` was of this slot. */
  observed(network: Network, slot: Slot): void {
    this.#observed.set(network, slot);
  }

  /** @returns null while nothing is known. */
  rootOf(network: Network): Slot | null {
    const root = this.#slots.slotAt(network, 'finalized')?.slot ?? this.#observed.get(network) ?? null;
    if (root === null) return null;
    const newest = this.#newest.get(network);
    if (newest === undefined || root > newest) this.#newest.set(network, root);
    else if (newest - root > SAME_CHAIN_SLOTS) {
      this.#newest.set(network, root);
      this.#onChainReset(network);
    }
    return root;
  }
}
