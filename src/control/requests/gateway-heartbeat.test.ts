import { expect, it } from 'vitest';
import { deadGatewayDetector } from './gateway-heartbeat.ts';

it('declares a gateway dead after a long silence, regardless of its clock', () => {
  const findDead = deadGatewayDetector(10_000);
  const ahead = 9_999_999_999_999;
  for (let now = 0; now <= 10_000; now += 2_000) {
    const rows = [
      { id: 'behind', seen_at: 5 + now },
      { id: 'ahead', seen_at: ahead },
    ];
    expect(findDead(rows, now)).toEqual([]);
  }
  const last = [
    { id: 'behind', seen_at: 5 },
    { id: 'ahead', seen_at: ahead },
  ];
  expect(findDead(last, 12_000)).toEqual(['ahead']);
});

it('declares no gateway dead after having stalled itself', () => {
  const findDead = deadGatewayDetector(10_000);
  const rows = [{ id: 'other', seen_at: 5 }];
  expect(findDead(rows, 0)).toEqual([]);
  expect(findDead(rows, 60_000)).toEqual([]);
  expect(findDead(rows, 65_000)).toEqual([]);
  expect(findDead(rows, 70_001)).toEqual(['other']);
});
