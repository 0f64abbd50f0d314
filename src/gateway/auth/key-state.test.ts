import { beforeEach, describe, expect, it } from 'vitest';
import { RateLimiter } from '../limits/rate-limiter.ts';
import { type CompletedCall, UsageMeter } from '../metering/usage-meter.ts';
import type { KeyId } from './key-record.ts';
import { KeyState } from './key-state.ts';

const MINUTE = 60_000;
const id = '7hQ2mKpZ' as KeyId;
const slow = { rpcPerSecond: 0.001, rpcBurst: 10 };

describe('key state', () => {
  let keyState: KeyState;
  beforeEach(() => {
    keyState = new KeyState();
  });

  describe('at the rate limiter', () => {
    const takeAll = (limiter: RateLimiter, at: KeyState | null, limits = slow): number => {
      let taken = 0;
      while (limiter.consume('family', limits, 0, 1, at)?.allowed) taken += 1;
      return taken;
    };

    it('does not use an evicted bucket or one of another limiter', () => {
      const limiter = new RateLimiter({ familiesMax: 1 });
      expect(takeAll(limiter, keyState)).toBe(10);
      limiter.consume('other', slow, 0);
      expect(takeAll(limiter, keyState)).toBe(10);
      expect(takeAll(limiter, null)).toBe(0);
      expect(takeAll(new RateLimiter(), keyState)).toBe(10);
    });
  });

  describe('at the usage meter', () => {
    const call = (over: Partial<CompletedCall> = {}): CompletedCall => ({
      ...{ key: { id, keyState: keyState }, product: 'rpc', method: 'getSlot', status: 'ok' },
      ...{ network: 'devnet', code: 0 },
      ...{ bytesIn: 1, bytesOut: 1, credits: 1, latencyMicros: 1 },
      ...over,
    });
    const rowsOf = (meter: UsageMeter): string[] =>
      meter
        .drain()
        .map(({ method, product, status, minute, requests }) =>
          [minute, product, method, status, requests].join(' '),
        )
        .sort();

    it('caches the counter of the minute, method, product and status', () => {
      const meter = new UsageMeter();
      for (let turn = 0; turn < 2; turn++) {
        meter.record(call(), MINUTE);
        meter.record(call(), MINUTE);
        meter.record(call({ method: 'getBlock' }), MINUTE);
        meter.record(call({ status: 'client' }), MINUTE);
        meter.record(call({ product: 'grpc' }), MINUTE);
      }
      meter.record(call(), 2 * MINUTE);
      expect(rowsOf(meter)).toEqual([
        '1 grpc getSlot ok 2',
        '1 rpc getBlock ok 2',
        '1 rpc getSlot client 2',
        '1 rpc getSlot ok 4',
        '2 rpc getSlot ok 1',
      ]);
    });
  });
});
