import type { Slot } from '../../ledger/units.ts';
import type { Network } from '../../protocol/call.ts';
import type { KnownSlots } from '../known-slots.ts';

/** A root that goes back by more slots than this is that of another chain: nodes that are behind differ by less. */
const SAME_CHAIN_SLOTS = 500n;

/** What is known of the finalized roots: what the nodes tell, and where they tell nothing, what answers said. */
export class FinalizedRoots {
  readonly #slots: KnownSlots;
  readonly #onOtherChain: (network: Network) => void;
  readonly #newest = new Map<Network, Slot>();
  readonly #answered = new Map<Network, Slot>();

  /** @param onOtherChain - hears when a network begins anew, as one for tests does: what was final is not any more. */
  constructor(slots: KnownSlots, onOtherChain: (network: Network) => void) {
    this.#slots = slots;
    this.#onOtherChain = onOtherChain;
  }

  /** An answer at `finalized` was of this slot. */
  answered(network: Network, told: Slot): void {
    this.#answered.set(network, told);
  }

  /** @returns null while nothing is known. */
  rootOf(network: Network): Slot | null {
    const root = this.#slots.slotAt(network, 'finalized')?.slot ?? this.#answered.get(network) ?? null;
    if (root === null) return null;
    const newest = this.#newest.get(network);
    if (newest === undefined || root > newest) this.#newest.set(network, root);
    else if (newest - root > SAME_CHAIN_SLOTS) {
      this.#newest.set(network, root);
      this.#onOtherChain(network);
    }
    return root;
  }
}
