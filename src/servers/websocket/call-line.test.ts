import { expect, it } from 'vitest';
import { CallLine } from './call-line.ts';

const line = (): CallLine =>
  new CallLine({ callsInFlightMax: 1, callsWaitingMax: 2, callsWaitingMaxBytes: 100 });

it('passes a place on in the order in which they came', async () => {
  const calls = line();
  expect(calls.enter(1_000)).toBe(true);
  const order: number[] = [];
  const waiting = [1, 2].map(async (one) => {
    if (await calls.enter(10)) order.push(one);
  });
  calls.leave();
  await waiting[0];
  expect(order).toEqual([1]);
  calls.leave();
  await waiting[1];
  expect(order).toEqual([1, 2]);
  calls.leave();
  expect(calls.enter(10)).toBe(true);
});

it('lets only so many wait, and only so many bytes', () => {
  const byNumber = line();
  byNumber.enter(1);
  for (const _ of [1, 2]) expect(byNumber.enter(1)).toBeInstanceOf(Promise);
  expect(byNumber.enter(1)).toBe(false);
  const byBytes = line();
  byBytes.enter(1);
  expect(byBytes.enter(101)).toBe(false);
  expect(byBytes.enter(60)).toBeInstanceOf(Promise);
  expect(byBytes.enter(60)).toBe(false);
});

it('sends away all who wait when it closes', async () => {
  const calls = line();
  calls.enter(1);
  const waiting = [calls.enter(1), calls.enter(1)];
  calls.close();
  expect(await Promise.all(waiting)).toEqual([false, false]);
});
