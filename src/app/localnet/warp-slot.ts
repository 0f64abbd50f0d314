import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OpenLocalNode } from '../../../packages/localnet/src/genesis/open.ts';

/** Maximum number of slots held in memory because they are not yet written to disk. */
const UNDURABLE_SLOTS_MAX = 128n;

/** Creates blocks with only the vote until the ledger reaches `slot`. @throws Error when a block cannot be written */
export async function warpTo(
  node: Pick<OpenLocalNode, 'bank' | 'freeze' | 'durableSlot'>,
  slot: bigint,
): Promise<void> {
  while (node.bank('processed').slot < slot) {
    if (node.bank('processed').slot - node.durableSlot >= UNDURABLE_SLOTS_MAX) await nextTurn();
    else node.freeze();
  }
}
