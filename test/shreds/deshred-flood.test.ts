import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRandom } from '../fuzz/engine/mutate.ts';
import { deshredding, generateSlot, TEST_SHRED_VERSION, testLeaderKey } from './deshred-rig.ts';
import { invalidShred } from './invalid-shreds.ts';

/** A fake clock makes the flood rate exact on any machine. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Number of forged packets that use up the budget for signatures of single shreds. */
const BUDGET = 2_500;

describe('deferred shreds', () => {
  const random = createRandom(8);
  const { packets, batches } = generateSlot(9, [20_000]);
  const createRig = (limits = {}) =>
    deshredding({ leaderOf: () => testLeaderKey, shredVersion: () => TEST_SHRED_VERSION, limits });
  const forged = (): Uint8Array => invalidShred(packets[random() % packets.length] as Uint8Array, random);

  it('use limited memory, are verified in small batches, and leave no memory or timers in use', () => {
    const limits = { deferredBytesMax: 1024 * 1024 };
    const rig = createRig(limits);
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

  it('are verified at once when several share a signature, even if the budget for single ones is used up', () => {
    const rig = createRig();
    for (let nth = 0; nth < BUDGET; nth++) rig.deshredder.push(forged());
    for (const packet of packets) rig.deshredder.push(packet);
    expect(rig.batches.map(({ entries }) => Buffer.from(entries))).toEqual(
      batches.map((one) => Buffer.from(one)),
    );
  });

  it('are not promoted by copies of themselves', () => {
    const rig = createRig();
    for (let nth = 0; nth < BUDGET; nth++) rig.deshredder.push(forged());
    const { signatures } = rig.deshredder.stats;
    for (let nth = 0; nth < 64; nth++) rig.deshredder.push(packets[0]!);
    expect(rig.deshredder.stats).toMatchObject({ signatures, drops: { duplicate: 63 } });
  });

  it('and their timer are discarded on close', () => {
    const rig = createRig();
    for (let nth = 0; nth < BUDGET; nth++) rig.deshredder.push(forged());
    rig.deshredder.close();
    expect(rig.deshredder.usage.unverifiedBytes).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
