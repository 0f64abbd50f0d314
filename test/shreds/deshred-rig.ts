import { addressBytes } from '../../src/solana/address.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import { encodeEntries } from '../../src/solana/entries.ts';
import { makeShreds } from '../../src/solana/shred/make-shreds.ts';
import { slot as asSlot } from '../../src/solana/units.ts';
import type { DeshredSlot, EntryBatch } from '../../src/streams/deshred/deshred-event.ts';
import { Deshredder, type DeshredderOptions } from '../../src/upstream/shreds/deshredder.ts';

export function deshredding(options: Partial<DeshredderOptions> & Pick<DeshredderOptions, 'leaderOf'>) {
  const batches: EntryBatch[] = [];
  const slots: DeshredSlot[] = [];
  const deshredder = new Deshredder(
    { shredVersion: () => null, unknownLeader: 'drop', ...options },
    { onBatch: (batch) => batches.push(batch), onSlot: (slot) => slots.push(slot) },
  );
  return { deshredder, batches, slots };
}

/** The default leader of generated slots. */
export const testLeader = Keypair.fromSeed(new Uint8Array(32).fill(3));
export const testLeaderKey = addressBytes(testLeader.address);
export const TEST_SHRED_VERSION = 4_711;

export function someEntries(bytes: number, mark: number): Uint8Array {
  const count = Math.max(1, Math.ceil((bytes - 8) / 48));
  return encodeEntries(
    Array.from({ length: count }, (_, i) => ({
      numHashes: BigInt(i),
      hash: new Uint8Array(32).fill(mark + i),
      transactions: [],
    })),
  );
}

export type GeneratedSlot = Readonly<{ batches: readonly Uint8Array[]; packets: readonly Uint8Array[] }>;

/** A slot with several batches, and its packets in order. */
export function generateSlot(
  slot: number,
  batchBytes: readonly number[],
  leader: Keypair = testLeader,
  parentOffset: number = slot === 0 ? 0 : 1,
): GeneratedSlot {
  const batches = batchBytes.map((bytes, i) => someEntries(bytes, slot * 16 + i));
  const packets: Uint8Array[] = [];
  let from = { chainedRoot: new Uint8Array(32), fecSetIndex: 0 };
  batches.forEach((entries, i) => {
    const made = makeShreds({
      slot: asSlot(slot),
      parentOffset,
      version: TEST_SHRED_VERSION,
      ...from,
      chainedRoot: Uint8Array.from(from.chainedRoot),
      referenceTick: i,
      entries,
      isLastInSlot: i === batches.length - 1,
      sign: (root) => leader.sign(root),
    });
    packets.push(...made.packets);
    from = { chainedRoot: Uint8Array.from(made.chainedRoot), fecSetIndex: made.fecSetIndex };
  });
  return { batches, packets };
}
