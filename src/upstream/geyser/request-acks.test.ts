import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RequestAcks } from './request-acks.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function pendingAcks() {
  const acks = new RequestAcks({ ackTimeoutMs: 100, openTimeoutMs: 1_000 });
  const events: string[] = [];
  acks.wait().then(
    () => events.push('accepted'),
    (error: Error) => events.push(error.name),
  );
  return { acks, events };
}

it('accepts a request by its pong, or by silence once the stream is open', async () => {
  for (const accept of ['pong', 'silence']) {
    const { acks, events } = pendingAcks();
    acks.markOpen();
    const id = acks.startRequest();
    acks.acknowledge(id - 1);
    await vi.advanceTimersByTimeAsync(99);
    expect(events).toEqual([]);
    if (accept === 'pong') acks.acknowledge(id);
    await vi.advanceTimersByTimeAsync(1);
    expect(events).toEqual(['accepted']);
  }
});

it('waits for the request on the next stream when a stream ends', async () => {
  const { acks, events } = pendingAcks();
  acks.markOpen();
  const lost = acks.startRequest();
  acks.reset();
  acks.acknowledge(lost);
  acks.startRequest();
  await vi.advanceTimersByTimeAsync(200);
  expect(events).toEqual([]);
  acks.markOpen();
  await vi.advanceTimersByTimeAsync(100);
  expect(events).toEqual(['accepted']);
});

it('fails when a request is rejected, the connection is closed, or no stream opens in time', async () => {
  const rejected = pendingAcks();
  expect([rejected.acks.reject(), rejected.acks.reject()]).toEqual([true, false]);
  const closed = pendingAcks();
  closed.acks.giveUp();
  await vi.advanceTimersByTimeAsync(0);
  expect(closed.events).toEqual(['AckTimeout']);
  const late = pendingAcks();
  late.acks.startRequest();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([rejected.events, late.events]).toEqual([['RequestRejected'], ['AckTimeout']]);
});
