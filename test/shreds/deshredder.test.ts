import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressBytes } from '../../src/solana/address.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import { parseShred } from '../../src/solana/shred/parse-shred.ts';
import { slot as asSlot } from '../../src/solana/units.ts';
import type { Deshredder } from '../../src/upstream/shreds/deshredder.ts';
import { createRandom } from '../fuzz/engine/mutate.ts';
import { deshredding, generateSlot, TEST_SHRED_VERSION, testLeaderKey } from './deshred-rig.ts';
import { dropSome, shuffled } from './disorder.ts';
import { makeLegacySet, makeMerkleSet } from './other-sets.ts';

const leaderOf = () => testLeaderKey;
const nameOf = (entries: Uint8Array): string => hash('sha256', entries, 'hex');
const names = (batches: readonly { entries: Uint8Array }[]): string[] =>
  batches.map(({ entries }) => nameOf(entries)).toSorted();

const texts = (batches: readonly { entries: Uint8Array }[]): string[] =>
  batches.map(({ entries }) => nameOf(entries));
const expected = (batches: readonly Uint8Array[]): string[] => batches.map(nameOf);

const stranger = Keypair.fromSeed(new Uint8Array(32).fill(99));

function changed(packet: Uint8Array, at: number, value: number): Uint8Array {
  const copy = Uint8Array.from(packet);
  copy[at] = value;
  return copy;
}

function pushAll(deshredder: Deshredder, packets: readonly Uint8Array[]): void {
  for (const packet of packets) deshredder.push(packet);
}

describe("packets without the leader's signature", () => {
  it('do not corrupt a started set by wrong counts, parity or payload', () => {
    const { batches, packets } = generateSlot(9, [20_000]);
    const rig = deshredding({ leaderOf });
    rig.deshredder.push(packets[0]!);
    for (const packet of packets.slice(32)) {
      // Number of data shreds, number of code shreds, position, parity.
      for (const at of [0x53, 0x55, 0x57, 500])
        rig.deshredder.push(changed(packet, at, (packet[at] as number) ^ 7));
    }
    for (const packet of packets.slice(1, 32)) {
      for (const at of [0x55, 0x56, 500])
        rig.deshredder.push(changed(packet, at, (packet[at] as number) ^ 0xc1));
    }
    expect(rig.deshredder.stats.accepted).toBe(1);
    pushAll(rig.deshredder, packets.slice(32, 63));
    expect(names(rig.batches)).toEqual(batches.map(nameOf));
  });

  it('are invalid even with a valid signature of another key', () => {
    const { packets } = generateSlot(9, [20_000], stranger);
    const rig = deshredding({ leaderOf });
    pushAll(rig.deshredder, packets);
    pushAll(rig.deshredder, packets);
    expect(rig.deshredder.stats.drops.invalidSignature).toBe(128);
    // The same signature for the same root is not verified again.
    expect(rig.deshredder.stats.signatures).toBe(1);
    expect(rig.slots).toEqual([]);
  });
});

describe('shreds of a misbehaving leader', () => {
  it('are accepted only from the first of two versions of a set', () => {
    const [one, other] = [generateSlot(9, [20_000]), generateSlot(9, [20_100])];
    const rig = deshredding({ leaderOf });
    pushAll(rig.deshredder, one.packets.slice(0, 10));
    pushAll(rig.deshredder, other.packets.slice(10));
    expect(rig.deshredder.stats.drops.equivocation).toBe(54);
    pushAll(rig.deshredder, one.packets.slice(10));
    expect(names(rig.batches)).toEqual(one.batches.map(nameOf));
  });

  it('yield only signed data if the parity belongs to other data', () => {
    const { packets } = makeMerkleSet(9, 32, 32, asSlot(9), {
      spoil: (shreds) => {
        for (const shred of shreds.slice(32)) shred[300] = 0xee;
      },
    });
    const rig = deshredding({ leaderOf });
    pushAll(rig.deshredder, packets.slice(16, 48));
    expect(rig.deshredder.stats).toMatchObject({ unrecoverableSets: 1, recoveredShreds: 0 });
    expect(rig.batches).toEqual([]);
    // Its signed data is still valid.
    pushAll(rig.deshredder, packets.slice(0, 32));
    expect(rig.batches).toHaveLength(1);
    expect(rig.deshredder.usage.bytes).toBe(0);
  });

  it('are dropped after the last one of the slot', () => {
    const long = generateSlot(9, [20_000, 20_000]);
    const short = generateSlot(9, [20_000]);
    const rig = deshredding({ leaderOf });
    // The first set ends the slot; another version of the slot has a second set.
    rig.deshredder.push(short.packets[31]!);
    pushAll(rig.deshredder, long.packets.slice(64, 96));
    expect(rig.deshredder.stats.drops.inconsistent).toBe(32);
    // The code shreds are dropped, too.
    pushAll(rig.deshredder, long.packets.slice(96));
    expect(rig.deshredder.stats.drops.inconsistent).toBe(64);
    expect(rig.batches).toEqual([]);
  });
});

describe('memory of the deshredder', () => {
  const limits = {
    slotsMax: 4,
    bytesMax: 400_000,
    slotsAheadMax: 20,
    slotsBehindMax: 10,
    pendingBytesMax: 20_000,
  };
  /** Sends too few shreds of each slot to complete it. */
  const begin = (deshredder: Deshredder, slots: readonly number[], count = 5): void => {
    for (const slot of slots) pushAll(deshredder, generateSlot(slot, [20_000]).packets.slice(0, count));
  };

  it('is limited to a number of slots; evicted slots do not restart', () => {
    const rig = deshredding({ leaderOf, limits });
    begin(rig.deshredder, [10, 11, 12, 13, 14, 15]);
    expect(rig.deshredder.usage.openSlots).toBe(4);
    expect(rig.deshredder.stats.slotsGivenUp).toBe(2);
    begin(rig.deshredder, [10, 11]);
    expect(rig.deshredder.stats.drops.slotClosed).toBe(10);
  });

  it('is limited in bytes; the largest slot is evicted', () => {
    const rig = deshredding({ leaderOf, limits });
    begin(rig.deshredder, [10, 11, 12], 20);
    // A slot stores all its packets until its first set arrives.
    for (const packet of generateSlot(13, [900_000]).packets.slice(64)) {
      rig.deshredder.push(packet);
      expect(rig.deshredder.usage.bytes).toBeLessThanOrEqual(limits.bytesMax);
    }
    expect(rig.deshredder.usage.openSlots).toBe(3);
    pushAll(rig.deshredder, generateSlot(10, [20_000]).packets);
    expect(rig.slots.at(-1)).toMatchObject({ slot: 10n, status: 'completed' });
  });

  it('follows the slots; a leader far ahead does not move its window', () => {
    const isStrangers = (slot: number): boolean => slot % 4 === 3;
    const rig = deshredding({
      leaderOf: (slot) => (isStrangers(Number(slot)) ? addressBytes(stranger.address) : testLeaderKey),
      limits: { ...limits, slotsBehindMax: 40 },
    });
    const sendAhead = (far: number): void =>
      rig.deshredder.push(generateSlot(far, [500], stranger).packets[0]!);
    for (let slot = 100; slot < 160; slot++) {
      for (let far = slot; far <= slot + 30; far++) if (isStrangers(far)) sendAhead(far);
      if (!isStrangers(slot)) pushAll(rig.deshredder, generateSlot(slot, [500]).packets);
    }
    const done = rig.slots.filter(({ status }) => status === 'completed').map(({ slot }) => Number(slot));
    const present = Array.from({ length: 60 }, (_, i) => 100 + i).filter((slot) => !isStrangers(slot));
    expect(done).toEqual(present);
    expect(rig.deshredder.usage.slots).toBeLessThanOrEqual(61);
  });

  it('holds a limited number of packets until their leader is known', () => {
    let isKnown = false;
    const rig = deshredding({
      leaderOf: () => (isKnown ? testLeaderKey : null),
      unknownLeader: 'hold',
      limits,
    });
    const { packets } = generateSlot(9, [500]);
    for (let i = 0; i < 20; i++) pushAll(rig.deshredder, packets);
    expect(rig.deshredder.usage.pendingBytes).toBeLessThanOrEqual(limits.pendingBytesMax);
    expect(rig.deshredder.usage.pendingBytes).toBeGreaterThan(limits.pendingBytesMax - 1_500);
    const { pending, drops } = rig.deshredder.stats;
    expect(pending).toBe(1_280);
    isKnown = true;
    rig.deshredder.releasePending();
    expect(rig.deshredder.usage.pendingBytes).toBe(0);
    expect(rig.deshredder.stats.accepted).toBe(pending - drops.unknownLeader);
    // The remaining packets complete the slot.
    pushAll(rig.deshredder, packets);
    expect(rig.batches).toHaveLength(1);
  });
});

describe('parseShred', () => {
  it('accepts valid shreds only', () => {
    const [data, code] = [generateSlot(9, [500]).packets[31]!, generateSlot(9, [500]).packets[32]!];
    expect(parseShred(data)).toMatchObject({ kind: 'data', isLastInSlot: true, parentOffset: 1, index: 31 });
    expect(parseShred(code)).toMatchObject({ kind: 'code', numData: 32, numCode: 32, position: 0 });
    expect(parseShred(data.subarray(0, 1_202))).toBe('Length');
    expect(parseShred(code.subarray(0, 1_227))).toBe('Length');
    expect(parseShred(new Uint8Array(0))).toBe('Length');
    expect(parseShred(Uint8Array.from([...code, 0, 0, 0, 0, 0]))).toBe('Length');
    for (const variant of [0x00, 0x50, 0xa6, 0xc6, 0x99, 0x69]) {
      expect(parseShred(changed(data, 0x40, variant))).toBe('Variant');
    }
    expect(parseShred(changed(data, 0x4f, 32))).toBe('Index');
    expect(parseShred(changed(data, 0x4a, 0x80))).toBe('Index');
    expect(parseShred(changed(data, 0x4c, 1))).toBe('Index');
    expect(parseShred(changed(data, 0x53, 0))).toBe('ParentOffset');
    expect(parseShred(changed(data, 0x53, 10))).toBe('ParentOffset');
    expect(parseShred(changed(data, 0x55, 0x80))).toBe('Flags');
    expect(parseShred(changed(data, 0x56, 87))).toBe('Size');
    expect(parseShred(changed(data, 0x57, 5))).toBe('Size');
    expect(parseShred(changed(code, 0x53, 0))).toBe('FecSet');
    expect(parseShred(changed(code, 0x53, 225))).toBe('FecSet');
    expect(parseShred(changed(code, 0x57, 32))).toBe('FecSet');
    expect(parseShred(changed(code, 0x57, 5))).toBe('Index');
  });
});

describe('generated slots', () => {
  it('yield their batches despite recoverable losses and in any order', () => {
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

describe('sets with other layouts', () => {
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

  it('legacy: every shred is verified, including recovered ones', () => {
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
