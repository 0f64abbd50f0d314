import { deshredding, generateSlot, TEST_SHRED_VERSION, testLeaderKey } from '../shreds/deshred-rig.ts';

export const from = 'whoever sends packets';
export const covers = ['solana/shred/parse-shred.ts', 'upstream/shreds/fec-set.ts'];

const made = generateSlot(9, [20_000, 500]);
const batches = made.batches.map((entries) => Buffer.from(entries).toString('latin1'));

/** Data and code of each kind of set. */
export const seeds: readonly Uint8Array[] = [0, 31, 32, 63, 64, 95, 96, 127].map((i) => made.packets[i]!);

/** A few that stay the same for all inputs, so that what an input leaves behind is seen. */
const reported = deshredding({ leaderOf: () => testLeaderKey, shredVersion: () => TEST_SHRED_VERSION });

/**
 * Whatever comes in a packet: no exception, nothing told that was not made, and never more than the true shreds held.
 * @returns whether it was a shred of the leader's.
 */
export function fuzz(input: Uint8Array): boolean {
  const before = reported.deshredder.stats.accepted;
  reported.deshredder.push(input);
  for (const { entries } of reported.batches.splice(0)) {
    if (!batches.includes(Buffer.from(entries).toString('latin1'))) throw new Error('told what nobody made');
  }
  if (reported.slots.splice(0).some(({ slot }) => slot !== 9n))
    throw new Error('told of a slot that nobody made');
  const { bytes, slots } = reported.deshredder.usage;
  if (bytes > made.packets.length * 1_228 || slots > 1) throw new Error('holds what nobody made');
  return reported.deshredder.stats.accepted > before;
}
