import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deshredLimits } from '../../src/upstream/shreds/shreds-config.ts';
import { createRandom, type Random } from '../fuzz/engine/mutate.ts';
import { deshredding, generateSlot, TEST_SHRED_VERSION, testLeaderKey } from './deshred-rig.ts';
import { dropSome, shuffled } from './disorder.ts';
import { invalidSetGenerator, invalidShred } from './invalid-shreds.ts';
import { DEMO_VERSION, demoEntries, demoLeader, demoPackets, hasRecordedShreds } from './recorded-shreds.ts';

/** Time goes by as packets come, so that a flood is as fast as it says, on any machine. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

type Flood = Readonly<{
  /** Forged packets of each millisecond. */
  forge: () => readonly Uint8Array[];
  /** Milliseconds from one true packet to the next: each comes in one moment with forged ones, behind them. */
  pace: number;
  unjudgedBytesMax?: number;
}>;

/** How long there is nothing but the flood, so that nothing is left of what may be looked at. */
const WARMING_MS = 1_000;

function demoIn(flood: Flood, packets: readonly Uint8Array[]) {
  const { forge, pace, unjudgedBytesMax = deshredLimits.unjudgedBytesMax } = flood;
  const limits = { unjudgedBytesMax };
  const told = deshredding({ leaderOf: () => demoLeader, shredVersion: () => DEMO_VERSION, limits });
  const passOneMs = (): void => {
    vi.advanceTimersByTime(1);
    for (const packet of forge()) told.deshredder.push(packet);
    expect(told.deshredder.usage.unverifiedBytes).toBeLessThanOrEqual(unjudgedBytesMax);
  };
  for (let ms = 0; ms < WARMING_MS; ms++) passOneMs();
  for (const packet of packets) {
    for (let ms = 0; ms < pace; ms++) passOneMs();
    told.deshredder.push(packet);
  }
  return told;
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
describe.skipIf(!hasRecordedShreds)('recorded shreds in a flood of forged ones above the budget', () => {
  const random = createRandom(7);
  const expectAll = (flood: Flood, packets = demoPackets): void => {
    const { batches, deshredder } = demoIn(flood, packets);
    expect(batches).toHaveLength(1);
    expect(Buffer.from(batches[0]!.entries).equals(demoEntries)).toBe(true);
    expect(deshredder.stats).toMatchObject({ slotsCompleted: 1, slotsGivenUp: 0 });
    vi.runAllTimers();
    expect(deshredder.usage).toMatchObject({ bytes: 0, unverifiedBytes: 0 });
  };

  it('give all their transactions, though each comes after twenty-four forged ones', () => {
    expectAll({ forge: singles(6, random), pace: 4 });
  });

  it('give them at twelve thousand forged a second, shuffled, with 32 of each 64 lost', () => {
    const left = dropSome(demoPackets, 64, 32, random);
    expectAll({ forge: singles(12, random), pace: 1 }, shuffled(left, random));
  });

  it.each([2, 12])(
    'give them where %i forged shreds each have a root and a signature in common',
    (shreds) => {
      expectAll({ forge: groups(shreds, 4, random), pace: 1 });
    },
  );

  it('give them where pairs of forged shreds fill all the room that there is', () => {
    expectAll({ forge: groups(2, 8, random), pace: 1, unjudgedBytesMax: 512 * 1024 });
  });

  it('give them where forged shreds have the signatures of true ones', () => {
    const copied = () =>
      singles(8, random)().map((packet) => {
        const from = demoPackets[random() % demoPackets.length] as Uint8Array;
        packet.set(from.subarray(0, 64));
        return packet;
      });
    expectAll({ forge: copied, pace: 2 });
  });
});

/** At once: more than may be looked at. */
const SPENT = 2_500;

describe('shreds that wait to be judged', () => {
  const random = createRandom(8);
  const { packets, batches } = generateSlot(9, [20_000]);
  const madeIn = (limits = {}) =>
    deshredding({ leaderOf: () => testLeaderKey, shredVersion: () => TEST_SHRED_VERSION, limits });
  const forged = (): Uint8Array => invalidShred(packets[random() % packets.length] as Uint8Array, random);

  it('take no more room than they may, are looked at a few at a time, and leave nothing behind', () => {
    const limits = { unjudgedBytesMax: 1024 * 1024 };
    const told = madeIn(limits);
    const FORGED = 30_000;
    for (let nth = 0; nth < FORGED; nth++) {
      told.deshredder.push(forged());
      expect(told.deshredder.usage.unverifiedBytes).toBeLessThanOrEqual(limits.unjudgedBytesMax);
    }
    expect(told.deshredder.usage.unverifiedBytes).toBeGreaterThan(limits.unjudgedBytesMax - 2_500);
    for (let before = told.deshredder.stats.signatures; told.deshredder.usage.unverifiedBytes > 0; ) {
      vi.advanceTimersToNextTimer();
      expect(told.deshredder.stats.signatures - before).toBeLessThanOrEqual(16);
      before = told.deshredder.stats.signatures;
    }
    expect(vi.getTimerCount()).toBe(0);
    const { drops, accepted } = told.deshredder.stats;
    expect([drops.invalidSignature + drops.unverified, accepted]).toEqual([FORGED, 0]);
  });

  it('come to be told though nothing comes after them', () => {
    const told = madeIn();
    for (let nth = 0; nth < SPENT; nth++) told.deshredder.push(forged());
    told.deshredder.push(packets[0]!);
    expect(told.deshredder.stats.accepted).toBe(0);
    vi.runAllTimers();
    expect(told.deshredder.stats.accepted).toBe(1);
    expect(told.slots.map(({ status }) => status)).toEqual(['firstShredReceived']);
  });

  it('are told at once when others vouch for them, also where their number is spent for single ones', () => {
    const told = madeIn();
    for (let nth = 0; nth < SPENT; nth++) told.deshredder.push(forged());
    for (const packet of packets) told.deshredder.push(packet);
    expect(told.batches.map(({ entries }) => Buffer.from(entries))).toEqual(
      batches.map((one) => Buffer.from(one)),
    );
  });

  it('are not vouched for by copies of themselves', () => {
    const told = madeIn();
    for (let nth = 0; nth < SPENT; nth++) told.deshredder.push(forged());
    const { signatures } = told.deshredder.stats;
    for (let nth = 0; nth < 64; nth++) told.deshredder.push(packets[0]!);
    expect(told.deshredder.stats).toMatchObject({ signatures, drops: { duplicate: 63 } });
  });

  it('are not harmed by what was found out about copies of their signature', () => {
    const told = madeIn();
    const copies = packets.map((packet) => {
      const copy = invalidShred(packet, random);
      copy.set(packet.subarray(0, 64));
      return copy;
    });
    for (const copy of copies) told.deshredder.push(copy);
    expect(told.deshredder.stats.drops.invalidSignature).toBe(64);
    for (let nth = 0; nth < SPENT; nth++) told.deshredder.push(forged());
    for (let nth = 0; nth < packets.length; nth++) {
      told.deshredder.push(copies[nth]!);
      told.deshredder.push(packets[nth]!);
    }
    expect(told.batches).toHaveLength(1);
  });

  it('are forgotten, with their timer, when nobody listens any more', () => {
    const told = madeIn();
    for (let nth = 0; nth < SPENT; nth++) told.deshredder.push(forged());
    told.deshredder.close();
    expect(told.deshredder.usage.unverifiedBytes).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
