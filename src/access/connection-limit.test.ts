import { expect, it } from 'vitest';
import { ConnectionLimit } from './connection-limit.ts';

it('gives each family its places and no more', () => {
  const limit = new ConnectionLimit();
  expect([limit.take('a', 2), limit.take('a', 2), limit.take('a', 2)]).toEqual([true, true, false]);
  expect(limit.take('b', 1)).toBe(true);
  expect([limit.openOf('a'), limit.openOf('b'), limit.openOf('c')]).toEqual([2, 1, 0]);
});

it('has a place again when one is given back, and never more than there were', () => {
  const limit = new ConnectionLimit();
  limit.take('a', 1);
  limit.giveBack('a');
  limit.giveBack('a');
  expect([limit.take('a', 1), limit.take('a', 1)]).toEqual([true, false]);
});

it('takes a plan that has become smaller at its word', () => {
  const limit = new ConnectionLimit();
  limit.take('a', 2);
  limit.take('a', 2);
  limit.giveBack('a');
  expect(limit.take('a', 1)).toBe(false);
  expect(limit.take('a', 0)).toBe(false);
});
