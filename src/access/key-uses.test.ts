import { expect, it } from 'vitest';
import type { KeyId } from './key-record.ts';
import { KeyUses } from './key-uses.ts';

/** Before a step is over since anything here was used. */
const NOW = 7_000;

const [a, b, c] = ['AAAAAAAA', 'BBBBBBBB', 'CCCCCCCC'] as KeyId[] as [KeyId, KeyId, KeyId];

it('tells the last use of a key once, and again from another address or a step later', () => {
  const uses = new KeyUses({ stepMs: 1_000 });
  uses.note(a, '192.0.2.1', 5_000);
  uses.note(a, '192.0.2.2', 5_001);
  const first = uses.untold(NOW);
  expect(first).toEqual([{ keyId: a, at: 5_001, from: '192.0.2.2' }]);
  uses.told(first);
  uses.note(a, '192.0.2.2', 6_000);
  expect(uses.untold(NOW)).toEqual([]);
  uses.note(a, '192.0.2.3', 6_000);
  expect(uses.untold(NOW)).toEqual([{ keyId: a, at: 6_000, from: '192.0.2.3' }]);
  uses.told(uses.untold(NOW));
  uses.note(a, '192.0.2.3', 7_000);
  expect(uses.untold(NOW)).toHaveLength(1);
});

it('tells what could not be stored again, and keeps the address where only messages were sent', () => {
  const uses = new KeyUses();
  uses.note(a, '192.0.2.1', 5_000);
  expect(uses.untold(NOW)).toEqual(uses.untold(NOW));
  uses.note(a, null, 6_000);
  expect(uses.untold(NOW)).toEqual([{ keyId: a, at: 6_000, from: '192.0.2.1' }]);
});

it('remembers so many keys and no more, and forgets those that are idle', () => {
  const uses = new KeyUses({ keysMax: 2, stepMs: 1_000 });
  for (const id of [a, b, c]) uses.note(id, null, 1_000);
  expect(uses.untold(NOW).map(({ keyId }) => keyId)).toEqual([a, b]);
  uses.told(uses.untold(NOW));
  uses.note(b, null, 2_500);
  uses.forgetIdle(2_501);
  expect(uses.size).toBe(1);
  uses.note(c, null, 2_502);
  expect(uses.untold(NOW).map(({ keyId }) => keyId)).toEqual([b, c]);
});

it('tells the very last use of a key that is idle since, and then forgets it', () => {
  const uses = new KeyUses({ stepMs: 1_000 });
  uses.note(a, '192.0.2.1', 5_000);
  uses.told(uses.untold(5_000));
  uses.note(a, '192.0.2.1', 5_900);
  expect(uses.untold(6_900)).toEqual([]);
  uses.forgetIdle(60_000);
  expect(uses.size).toBe(1);
  const last = uses.untold(6_901);
  expect(last).toEqual([{ keyId: a, at: 5_900, from: '192.0.2.1' }]);
  uses.told(last);
  uses.forgetIdle(6_901);
  expect([uses.untold(60_000), uses.size]).toEqual([[], 0]);
});
