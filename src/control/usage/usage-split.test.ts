import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { KeyId } from '../../gateway/auth/key-record.ts';
import { UsageMeter } from '../../gateway/metering/usage-meter.ts';
import { UsageSplit } from './usage-split.ts';

const MINUTE_MS = 60_000;

const anyStep = fc.oneof(
  fc.record({
    key: fc.constantFrom('AAAAAAAA', null),
    method: fc.constantFrom('getSlot', 'getBlock'),
    status: fc.constantFrom('ok', 'limited'),
    afterMs: fc.constantFrom(0, 0, MINUTE_MS, 3 * MINUTE_MS),
  }),
  fc.constantFrom('totals', 'details'),
);

it('both sides report the calls of each minute, key and outcome, in whatever order they are drained', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const meter = new UsageMeter();
      const split = new UsageSplit(meter);
      const calls = new Map<string, number>();
      // The latest state of each row, as a store keeps it.
      const stored = { totals: new Map<string, number>(), details: new Map<string, number>() };
      const drain = (side: 'totals' | 'details'): void => {
        for (const { minute, keyId, status, method, requests } of split[side].drain())
          stored[side].set(`${minute} ${keyId} ${status} ${method}`, requests);
      };
      let nowMs = 0;
      for (const step of steps) {
        if (typeof step === 'string') drain(step);
        else {
          const { key, method, status, afterMs } = step;
          nowMs += afterMs;
          const call = { product: 'rpc', method, status, network: 'devnet', code: 0 } as const;
          const counts = { bytesIn: 1, bytesOut: 2, credits: 3, latencyMicros: 500 };
          meter.record({ ...call, ...counts, key: key === null ? null : { id: key as KeyId } }, nowMs);
          const name = `${Math.floor(nowMs / MINUTE_MS)} ${key} ${status}`;
          calls.set(name, (calls.get(name) ?? 0) + 1);
        }
      }
      for (const side of ['totals', 'details'] as const) {
        drain(side);
        const sums = new Map<string, number>();
        for (const [name, requests] of stored[side]) {
          const withoutMethod = name.split(' ').slice(0, 3).join(' ');
          sums.set(withoutMethod, (sums.get(withoutMethod) ?? 0) + requests);
        }
        expect(sums).toEqual(calls);
      }
      expect([...stored.totals.keys()].every((name) => name.endsWith(' '))).toBe(true);
    }),
  );
});
