import { expect, it } from 'vitest';
import { CallQueue } from './call-queue.ts';

const line = (): CallQueue =>
  new CallQueue({ callsInFlightMax: 1, callsWaitingMax: 2, callsWaitingMaxBytes: 100 });

it('passes a place on in the order in which they came', async () => {
  const calls = line();
  expect(calls.acquire(1_000)).toBe(true);
  const order: number[] = [];
  const waiting = [1, 2].map(async (one) => {
    if (await calls.acquire(10)) order.push(one);
  });
  calls.release();
  await waiting[0];
  expect(order).toEqual([1]);
  calls.release();
  await waiting[1];
  expect(order).toEqual([1, 2]);
  calls.release();
  expect(calls.acquire(10)).toBe(true);
});

it('lets only so many wait, and only so many bytes', () => {
  const byNumber = line();
  byNumber.acquire(1);
  for (const _ of [1, 2]) expect(byNumber.acquire(1)).toBeInstanceOf(Promise);
  expect(byNumber.acquire(1)).toBe(false);
  const byBytes = line();
  byBytes.acquire(1);
  expect(byBytes.acquire(101)).toBe(false);
  expect(byBytes.acquire(60)).toBeInstanceOf(Promise);
  expect(byBytes.acquire(60)).toBe(false);
});

it('sends away all who wait when it closes', async () => {
  const calls = line();
  calls.acquire(1);
  const waiting = [calls.acquire(1), calls.acquire(1)];
  calls.close();
  expect(await Promise.all(waiting)).toEqual([false, false]);
});
