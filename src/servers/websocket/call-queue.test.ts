import { expect, it } from 'vitest';
import { CallQueue } from './call-queue.ts';

const queue = (): CallQueue =>
  new CallQueue({ callsInFlightMax: 1, callsWaitingMax: 2, callsWaitingMaxBytes: 100 });

it('admits waiting calls in order', async () => {
  const calls = queue();
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

it('limits the number and the bytes of waiting calls', () => {
  const byNumber = queue();
  byNumber.acquire(1);
  for (const _ of [1, 2]) expect(byNumber.acquire(1)).toBeInstanceOf(Promise);
  expect(byNumber.acquire(1)).toBe(false);
  const byBytes = queue();
  byBytes.acquire(1);
  expect(byBytes.acquire(101)).toBe(false);
  expect(byBytes.acquire(60)).toBeInstanceOf(Promise);
  expect(byBytes.acquire(60)).toBe(false);
});

it('rejects all waiting calls when it closes', async () => {
  const calls = queue();
  calls.acquire(1);
  const waiting = [calls.acquire(1), calls.acquire(1)];
  calls.close();
  expect(await Promise.all(waiting)).toEqual([false, false]);
});
