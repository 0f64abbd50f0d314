import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OpenLocalNode } from '../../../packages/localnet/src/genesis/open.ts';

/** Slots that may wait for the disk meanwhile. */
const UNDURABLE_SLOTS_MAX = 128n;

/**
 * Makes empty blocks, one after the other, until the ledger has reached a slot; nothing when it is there already.
 * @throws Error when the disk refuses them.
 */
export async function warpTo(
  node: Pick<OpenLocalNode, 'bank' | 'freeze' | 'durableSlot'>,
  slot: bigint,
): Promise<void> {
  while (node.bank('processed').slot < slot) {
    if (node.bank('processed').slot - node.durableSlot >= UNDURABLE_SLOTS_MAX) await nextTurn();
    else node.freeze();
  }
}
