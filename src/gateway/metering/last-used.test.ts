import { expect, it } from 'vitest';
import type { KeyId } from '../auth/key-record.ts';
import { LastUsedTracker } from './last-used.ts';

/** Less than the default interval after the uses below. */
const NOW = 7_000;

const [a, b, c] = ['AAAAAAAA', 'BBBBBBBB', 'CCCCCCCC'] as KeyId[] as [KeyId, KeyId, KeyId];

it('reports the last use of a key once, and again from another address or an interval later', () => {
  const uses = new LastUsedTracker({ minIntervalMs: 1_000 });
  uses.record(a, '192.0.2.1', 5_000);
  uses.record(a, '192.0.2.2', 5_001);
  const first = uses.unsaved(NOW);
  expect(first).toEqual([{ keyId: a, at: 5_001, from: '192.0.2.2' }]);
  uses.markSaved(first);
  uses.record(a, '192.0.2.2', 6_000);
  expect(uses.unsaved(NOW)).toEqual([]);
  uses.record(a, '192.0.2.3', 6_000);
  expect(uses.unsaved(NOW)).toEqual([{ keyId: a, at: 6_000, from: '192.0.2.3' }]);
  uses.markSaved(uses.unsaved(NOW));
  uses.record(a, '192.0.2.3', 7_000);
  expect(uses.unsaved(NOW)).toHaveLength(1);
});

it('reports unsaved uses again, and keeps the address if only messages were sent', () => {
  const uses = new LastUsedTracker();
  uses.record(a, '192.0.2.1', 5_000);
  expect(uses.unsaved(NOW)).toEqual(uses.unsaved(NOW));
  uses.record(a, null, 6_000);
  expect(uses.unsaved(NOW)).toEqual([{ keyId: a, at: 6_000, from: '192.0.2.1' }]);
});

it('tracks at most keysMax keys and evicts idle ones', () => {
  const uses = new LastUsedTracker({ keysMax: 2, minIntervalMs: 1_000 });
  for (const id of [a, b, c]) uses.record(id, null, 1_000);
  expect(uses.unsaved(NOW).map(({ keyId }) => keyId)).toEqual([a, b]);
  uses.markSaved(uses.unsaved(NOW));
  uses.record(b, null, 2_500);
  uses.evictIdle(2_501);
  expect(uses.size).toBe(1);
  uses.record(c, null, 2_502);
  expect(uses.unsaved(NOW).map(({ keyId }) => keyId)).toEqual([b, c]);
});

it('reports the final use of an idle key, and then evicts it', () => {
  const uses = new LastUsedTracker({ minIntervalMs: 1_000 });
  uses.record(a, '192.0.2.1', 5_000);
  uses.markSaved(uses.unsaved(5_000));
  uses.record(a, '192.0.2.1', 5_900);
  expect(uses.unsaved(6_900)).toEqual([]);
  uses.evictIdle(60_000);
  expect(uses.size).toBe(1);
  const last = uses.unsaved(6_901);
  expect(last).toEqual([{ keyId: a, at: 5_900, from: '192.0.2.1' }]);
  uses.markSaved(last);
  uses.evictIdle(6_901);
  expect([uses.unsaved(60_000), uses.size]).toEqual([[], 0]);
});
