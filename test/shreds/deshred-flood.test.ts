import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deshredLimits } from '../../src/upstream/shreds/shreds-config.ts';
import { createRandom, type Random } from '../fuzz/engine/mutate.ts';
import { deshredding, generateSlot, TEST_SHRED_VERSION, testLeaderKey } from './deshred-rig.ts';
import { dropSome, shuffled } from './disorder.ts';
import { invalidSetGenerator, invalidShred } from './invalid-shreds.ts';
import { DEMO_VERSION, demoEntries, demoLeader, demoPackets, hasRecordedShreds } from './recorded-shreds.ts';

/** A fake clock makes the rate of a flood exact on any machine. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

type Flood = Readonly<{
  /** Forged packets per millisecond. */
  forge: () => readonly Uint8Array[];
  /** Milliseconds between valid packets, each after the forged ones. */
  pace: number;
  deferredBytesMax?: number;
}>;

/** Forged packets only, to use up the verification budget. */
const WARMING_MS = 1_000;

function demoIn(flood: Flood, packets: readonly Uint8Array[]) {
  const { forge, pace, deferredBytesMax = deshredLimits.deferredBytesMax } = flood;
  const limits = { deferredBytesMax };
  const rig = deshredding({ leaderOf: () => demoLeader, shredVersion: () => DEMO_VERSION, limits });
  const passOneMs = (): void => {
    vi.advanceTimersByTime(1);
    for (const packet of forge()) rig.deshredder.push(packet);
    expect(rig.deshredder.usage.unverifiedBytes).toBeLessThanOrEqual(deferredBytesMax);
  };
  for (let ms = 0; ms < WARMING_MS; ms++) passOneMs();
  for (const packet of packets) {
    for (let ms = 0; ms < pace; ms++) passOneMs();
    rig.deshredder.push(packet);
  }
  return rig;
}

const singles = (perMs: number, random: Random) => () =>
  Array.from({ length: perMs }, () =>
    invalidShred(demoPackets[random() % demoPackets.length] as Uint8Array, random),
  );

function groups(shreds: number, perMs: number, random: Random) {
  const forge = invalidSetGenerator(demoPackets, random);
  return () => Array.from({ length: perMs }, () => forge(shreds)).flat();
}

/** Needs ../shared/data/shreds. */
describe.skipIf(!hasRecordedShreds)('recorded shreds in a flood of forged ones above the limit', () => {
  const random = createRandom(7);
  const expectAll = (flood: Flood, packets = demoPackets): void => {
    const { batches, deshredder } = demoIn(flood, packets);
    expect(batches).toHaveLength(1);
    expect(Buffer.from(batches[0]!.entries).equals(demoEntries)).toBe(true);
    expect(deshredder.stats).toMatchObject({ slotsCompleted: 1, slotsGivenUp: 0 });
    vi.runAllTimers();
    expect(deshredder.usage).toMatchObject({ bytes: 0, unverifiedBytes: 0 });
  };

  it('yield them at 12,000 forged shreds per second, shuffled, with 32 of each 64 lost', () => {
    const left = dropSome(demoPackets, 64, 32, random);
    expectAll({ forge: singles(12, random), pace: 1 }, shuffled(left, random));
  });

  it.each([12])('yield them with %i forged shreds per root and signature', (shreds) => {
    expectAll({ forge: groups(shreds, 4, random), pace: 1 });
  });

  it('yield them while pairs of forged shreds fill the buffer', () => {
    expectAll({ forge: groups(2, 8, random), pace: 1, deferredBytesMax: 512 * 1024 });
  });
});

/** Forged packets that use up the budget at once. */
const SPENT = 2_500;

describe('deferred shreds', () => {
  const random = createRandom(8);
  const { packets, batches } = generateSlot(9, [20_000]);
  const madeIn = (limits = {}) =>
    deshredding({ leaderOf: () => testLeaderKey, shredVersion: () => TEST_SHRED_VERSION, limits });
  const forged = (): Uint8Array => invalidShred(packets[random() % packets.length] as Uint8Array, random);

  it('use limited memory, are verified in small batches, and leave nothing behind', () => {
    const limits = { deferredBytesMax: 1024 * 1024 };
    const rig = madeIn(limits);
    const FORGED = 30_000;
    for (let nth = 0; nth < FORGED; nth++) {
      rig.deshredder.push(forged());
      expect(rig.deshredder.usage.unverifiedBytes).toBeLessThanOrEqual(limits.deferredBytesMax);
    }
    expect(rig.deshredder.usage.unverifiedBytes).toBeGreaterThan(limits.deferredBytesMax - 2_500);
    for (let before = rig.deshredder.stats.signatures; rig.deshredder.usage.unverifiedBytes > 0; ) {
      vi.advanceTimersToNextTimer();
      expect(rig.deshredder.stats.signatures - before).toBeLessThanOrEqual(16);
      before = rig.deshredder.stats.signatures;
    }
    expect(vi.getTimerCount()).toBe(0);
    const { drops, accepted } = rig.deshredder.stats;
    expect([drops.invalidSignature + drops.unverified, accepted]).toEqual([FORGED, 0]);
  });

  it('are verified at once when several share a claim, even with the single share used up', () => {
    const rig = madeIn();
    for (let nth = 0; nth < SPENT; nth++) rig.deshredder.push(forged());
    for (const packet of packets) rig.deshredder.push(packet);
    expect(rig.batches.map(({ entries }) => Buffer.from(entries))).toEqual(
      batches.map((one) => Buffer.from(one)),
    );
  });

  it('are not promoted by copies of themselves', () => {
    const rig = madeIn();
    for (let nth = 0; nth < SPENT; nth++) rig.deshredder.push(forged());
    const { signatures } = rig.deshredder.stats;
    for (let nth = 0; nth < 64; nth++) rig.deshredder.push(packets[0]!);
    expect(rig.deshredder.stats).toMatchObject({ signatures, drops: { duplicate: 63 } });
  });

  it('are discarded with their timer on close', () => {
    const rig = madeIn();
    for (let nth = 0; nth < SPENT; nth++) rig.deshredder.push(forged());
    rig.deshredder.close();
    expect(rig.deshredder.usage.unverifiedBytes).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
