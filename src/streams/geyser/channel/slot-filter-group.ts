import type { SlotStatus } from '../../../protocol/geyser/update/slot.ts';
import type { SlotRule } from '../filters/slot-rule.ts';
import { sharedNames } from './shared-names.ts';

/** The filters of slots of one member. */
export class SlotFilterGroup {
  readonly #rules: readonly SlotRule[];
  readonly #names = new Map<SlotStatus, Uint8Array | null>();

  constructor(rules: readonly SlotRule[]) {
    this.#rules = rules;
  }

  /** Encoded names of the filters that a slot of this status passes; null: of none. */
  namesOf(status: SlotStatus): Uint8Array | null {
    const existing = this.#names.get(status);
    if (existing !== undefined) return existing;
    const passed = this.#rules.filter((rule) => rule.passes(status)).map(({ name }) => name);
    const names = passed.length === 0 ? null : sharedNames(passed);
    this.#names.set(status, names);
    return names;
  }
}
