import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slot as asSlot } from '../../src/solana/units.ts';
import { createRandom } from '../fuzz/engine/mutate.ts';
import { deshredding, generateSlot, TEST_SHRED_VERSION, testLeaderKey } from './deshred-rig.ts';
import { dropSome, shuffled } from './disorder.ts';
import { makeLegacySet, makeMerkleSet } from './other-sets.ts';

const leaderOf = () => testLeaderKey;

/** Hash of the bytes, for short messages. */
const nameOf = (entries: Uint8Array): string => hash('sha256', entries, 'hex');

const texts = (batches: readonly { entries: Uint8Array }[]): string[] =>
  batches.map(({ entries }) => nameOf(entries));
const expected = (batches: readonly Uint8Array[]): string[] => batches.map(nameOf);

describe('generated slots', () => {
  it('yield their batches with losses within bounds and in any order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 8, max: 40_000 }), { minLength: 1, maxLength: 4 }),
        fc.nat(32),
        fc.boolean(),
        fc.nat(),
        (sizes, lost, inOrder, seed) => {
          const random = createRandom(seed);
          const { batches, packets } = generateSlot(9, sizes);
          const left = dropSome(packets, 64, lost, random);
          const rig = deshredding({ leaderOf, shredVersion: () => TEST_SHRED_VERSION });
          for (const packet of inOrder ? left : shuffled(left, random)) rig.deshredder.push(packet);
          expect(texts(rig.batches).toSorted()).toEqual(expected(batches).toSorted());
          if (inOrder) expect(texts(rig.batches)).toEqual(expected(batches));
          expect(rig.slots.map(({ status, slot }) => [status, slot])).toEqual([
            ['firstShredReceived', 9n],
            ['completed', 9n],
          ]);
          expect(rig.slots[1]!.parent).toBe(8n);
          expect(rig.deshredder.usage).toMatchObject({ bytes: 0, openSlots: 0 });
          expect(rig.deshredder.stats.brokenChains).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('sets of other layouts', () => {
  const forms = [
    { name: 'merkle, not chained', variant: 8, numData: 32, numCode: 32 },
    { name: 'chained and resigned, 1:17', variant: 11, numData: 1, numCode: 17 },
    { name: 'chained, 128:128', variant: 9, numData: 128, numCode: 128 },
  ] as const;

  it.each(forms)('$name: any sufficient subset yields the rest', ({ variant, numData, numCode }) => {
    const random = createRandom(variant * 1_000 + numData);
    const { entries, packets } = makeMerkleSet(variant, numData, numCode, asSlot(9));
    for (let i = 0; i < 12; i++) {
      const rig = deshredding({ leaderOf });
      const left = i === 0 ? packets.slice(numData) : dropSome(packets, packets.length, numCode, random);
      if (left.length < numData) continue;
      for (const packet of shuffled(left, random)) rig.deshredder.push(packet);
      expect(texts(rig.batches)).toEqual(expected([entries]));
      expect(rig.deshredder.stats.drops.inconsistent).toBe(0);
    }
  });

  it('legacy: each shred is verified, including recovered ones', () => {
    const random = createRandom(77);
    const { entries, packets } = makeLegacySet(20, 12, asSlot(9));
    for (let i = 0; i < 10; i++) {
      const rig = deshredding({ leaderOf });
      const left = dropSome(packets, packets.length, 12, random);
      for (const packet of shuffled(left, random)) rig.deshredder.push(packet);
      expect(texts(rig.batches)).toEqual(expected([entries]));
    }
  });
});
