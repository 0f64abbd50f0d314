import { expect, it } from 'vitest';
import { type CompletedCall, UsageMeter, type UsageRow } from '../../gateway/metering/usage-meter.ts';
import { UsageSplit } from './usage-split.ts';

const NOON = Date.UTC(2026, 10, 28, 12);
const MINUTE_MS = 60_000;

const call: CompletedCall = {
  ...{ key: null, product: 'rpc', method: 'getSlot', status: 'ok', network: 'devnet', code: 0 },
  ...{ bytesIn: 1, bytesOut: 2, credits: 3, latencyMicros: 100 },
};

const requests = (rows: readonly UsageRow[]): number => rows.reduce((sum, row) => sum + row.requests, 0);

it('details have the calls that the totals have, and no later ones', () => {
  const meter = new UsageMeter();
  const split = new UsageSplit(meter);
  meter.record(call, NOON);
  expect(requests(split.totals.drain())).toBe(1);
  meter.record({ ...call, method: 'getBlock' }, NOON);
  meter.record(call, NOON + MINUTE_MS);
  expect(requests(split.details.drain())).toBe(1);
  expect(split.details.drain()).toEqual([]);
  expect(split.totals.drain().map((row) => [row.minute * MINUTE_MS, row.requests])).toEqual([
    [NOON, 2],
    [NOON + MINUTE_MS, 1],
  ]);
  expect(requests(split.details.drain())).toBe(2);
});
