import { type Commitment, commitments } from '../../../protocol/commitment.ts';
import type { SlotsFilter } from '../../../protocol/geyser/subscribe-request.ts';
import type { SlotStatus } from '../../../protocol/geyser/update/slot.ts';

const isCommitment = (status: SlotStatus): boolean => (commitments as readonly string[]).includes(status);

export class SlotRule {
  readonly name: string;
  readonly #isByCommitment: boolean;
  readonly #hasInterslot: boolean;
  readonly #commitment: Commitment | null;

  /** @param commitment - of the request; null if the stream has none. */
  constructor(name: string, filter: SlotsFilter, commitment: Commitment | null) {
    this.name = name;
    this.#isByCommitment = filter.filterByCommitment ?? false;
    this.#hasInterslot = filter.interslotUpdates ?? false;
    this.#commitment = commitment;
  }

  passes(status: SlotStatus): boolean {
    if (this.#isByCommitment && status !== this.#commitment) return false;
    return this.#hasInterslot || isCommitment(status);
  }
}
