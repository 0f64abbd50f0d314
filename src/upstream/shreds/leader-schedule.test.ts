import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { type Address, addressFromBytes } from '../../solana/address.ts';
import { slot } from '../../solana/units.ts';
import { LeaderSchedule, readShredVersion } from './leader-schedule.ts';
import { shredLimits } from './shreds-config.ts';

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const name = (byte: number): Address => addressFromBytes(key(byte));

type Answer = unknown;
type Call = Readonly<{ method: string; params: readonly unknown[] }>;

/** A schedule with epochs of 100 slots, at slot 1,050 in epoch 10. */
function setUp(change: { answer?: (call: Call) => Answer; limits?: Partial<typeof shredLimits> } = {}) {
  const calls: Call[] = [];
  const state = { slot: 1_050 };
  const usual = ({ method, params }: Call): Answer => {
    if (method === 'getClusterNodes') return [{ shredVersion: 7 }];
    const epoch = Math.floor(state.slot / 100);
    if (method === 'getEpochInfo') {
      return {
        absoluteSlot: state.slot,
        blockHeight: 1,
        epoch,
        slotIndex: state.slot % 100,
        slotsInEpoch: 100,
      };
    }
    const epochIndex = Math.floor(Number(params[0]) / 100);
    if (epochIndex > epoch + 1) return null;
    // The leaders depend on the epoch number; the last slot has none.
    const positions = Array.from({ length: 99 }, (_, position) => position);
    return {
      [name(epochIndex)]: positions.filter((position) => position % 2 === 0),
      [name(epochIndex + 100)]: positions.filter((position) => position % 2 === 1),
    };
  };
  let onRequest: (() => void) | null = null;
  const request = async (method: string, params: unknown): Promise<Buffer> => {
    const call = { method, params: params as readonly unknown[] };
    calls.push(call);
    onRequest?.();
    return Buffer.from(JSON.stringify((change.answer ?? usual)(call) ?? usual(call)));
  };
  const schedule = new LeaderSchedule({
    reader: { request: request },
    limits: { ...shredLimits, scheduleRetryMs: 1, ...change.limits },
    log: createLogger('silent', () => {}),
    discoverShredVersion: true,
  });
  onTestFinished(() => schedule.close());
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) {
      await Promise.race([
        new Promise<void>((resolve) => (onRequest = resolve)),
        new Promise((resolve) => setTimeout(resolve, 5)),
      ]);
    }
  };
  return { schedule, calls, state, until };
}

describe('LeaderSchedule', () => {
  it('returns the leaders of the current and the next epoch', async () => {
    const { schedule } = setUp();
    await schedule.start();
    expect(schedule.leaderOf(slot(1_000))).toEqual(key(10));
    expect(schedule.leaderOf(slot(1_001))).toEqual(key(110));
    expect(schedule.leaderOf(slot(1_100))).toEqual(key(11));
    expect(schedule.leaderOf(slot(1_000))).toBe(schedule.leaderOf(slot(1_002)));
  });

  it('returns null for other slots and before the first read', async () => {
    const { schedule } = setUp();
    expect(schedule.leaderOf(slot(1_000))).toBeNull();
    await schedule.start();
    for (const other of [0, 999, 1_099, 1_199, 1_200, 2 ** 60]) {
      expect(schedule.leaderOf(slot(other))).toBeNull();
    }
  });

  it('follows epoch changes and evicts old epochs', async () => {
    const { schedule, state, until } = setUp({ limits: { scheduleIntervalMs: 1 } });
    await schedule.start();
    state.slot = 1_310;
    await until(() => schedule.leaderOf(slot(1_300)) !== null && schedule.size === 2);
    expect(schedule.leaderOf(slot(1_400))).toEqual(key(14));
    expect(schedule.leaderOf(slot(1_000))).toBeNull();
  });

  it('refreshes at once on an unknown slot, but not on each one', async () => {
    const { schedule, state, calls, until } = setUp({ limits: { scheduleRetryMs: 20 } });
    await schedule.start();
    state.slot = 1_200;
    await until(() => schedule.leaderOf(slot(1_205)) !== null);
    const before = calls.length;
    for (let i = 0; i < 1_000; i++) schedule.leaderOf(slot(5_000 + i));
    expect(calls.length - before).toBeLessThanOrEqual(1);
  });

  it('retries without a response, with an unknown schedule and with malformed responses', async () => {
    let failures = 0;
    const { schedule, until } = setUp({
      answer: ({ method }) => {
        failures++;
        if (failures === 1) throw new Error('no response');
        if (failures === 2) return 'nonsense';
        if (failures < 9 && method === 'getLeaderSchedule') return {};
        if (failures < 12 && method === 'getLeaderSchedule') return { nobody: [1] };
        return undefined;
      },
    });
    await schedule.start();
    expect(schedule.size).toBe(0);
    await until(() => schedule.leaderOf(slot(1_000)) !== null);
    expect(schedule.leaderOf(slot(1_000))).toEqual(key(10));
  });

  it('uses the most common shred version of the nodes', () => {
    const nodes = [
      { shredVersion: 3 },
      { shredVersion: 5 },
      { shredVersion: null },
      { shredVersion: 5 },
      null,
    ];
    expect(readShredVersion(JSON.stringify(nodes))).toBe(5);
    expect(readShredVersion(JSON.stringify([{ shredVersion: 0 }, { shredVersion: 70_000 }]))).toBeNull();
  });
});
