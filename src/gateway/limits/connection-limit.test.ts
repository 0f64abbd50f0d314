import { expect, it } from 'vitest';
import { ConnectionLimit } from './connection-limit.ts';

it('limits connections per family', () => {
  const limit = new ConnectionLimit();
  expect(limit.tryAcquire('a', 2)).toBe(true);
  expect(limit.tryAcquire('a', 2)).toBe(true);
  expect(limit.tryAcquire('a', 2)).toBe(false);
  expect(limit.tryAcquire('b', 1)).toBe(true);
  expect([limit.openCount('a'), limit.openCount('b'), limit.openCount('c')]).toEqual([2, 1, 0]);
});

it('frees a slot on release, never more than were taken', () => {
  const limit = new ConnectionLimit();
  limit.tryAcquire('a', 1);
  limit.release('a');
  limit.release('a');
  expect([limit.tryAcquire('a', 1), limit.tryAcquire('a', 1)]).toEqual([true, false]);
});

it('reports changed names first, then each name once per round', () => {
  const limit = new ConnectionLimit({ isShared: true });
  for (let i = 0; i < 10; i++) limit.tryAcquire(`f${i}`, 9);
  const namesOf = (round: 'next' | 'restart' | null) =>
    limit.report(4, round).map(({ name, open }) => name + open);
  expect([namesOf(null), namesOf(null), namesOf(null), namesOf(null)].map(({ length }) => length)).toEqual([
    4, 4, 2, 0,
  ]);
  expect(namesOf('next')).toEqual(['f01', 'f11', 'f21', 'f31']);
  limit.tryAcquire('f0', 9);
  expect(namesOf('next')).toEqual(['f02', 'f41', 'f51', 'f61']);
  expect([namesOf(null), namesOf(null)]).toEqual([['f71', 'f81', 'f91'], []]);
  expect(namesOf('next')).toHaveLength(4);
  expect(namesOf('restart')).toEqual(['f02', 'f11', 'f21', 'f31']);
});
