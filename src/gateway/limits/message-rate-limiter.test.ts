import { describe, expect, it } from 'vitest';
import { MessageRateLimiter } from './message-rate-limiter.ts';

const plan = { rpcPerSecond: 10 };

describe('the pace of messages', () => {
  it('lets two seconds of them come at once, and then asks for as much rest as they took', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 100 });
    expect(pace.consume('f', plan, 200, 0, 0)).toBe(0);
    expect(pace.consume('f', plan, 50, 0, 0)).toBe(500);
    expect(pace.consume('f', plan, 0, 0, 500)).toBe(0);
    expect(pace.consume('f', plan, 1, 0, 500)).toBe(10);
  });

  it('counts a KiB as a message', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 100 });
    expect(pace.consume('f', plan, 0, 300 * 1_024, 0)).toBe(1_000);
  });

  it('says when there is no end to it, and forgives within the same time', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 100 });
    expect(pace.consume('f', plan, 201, 0, 0)).toBe(10);
    expect(pace.consume('f', plan, 200, 0, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(pace.consume('f', plan, 100, 0, 1_000)).toBe(2_000);
  });

  it('takes any one message that its family was not yet behind with, however long', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 100 });
    expect(pace.consume('f', plan, 1, 25_000 * 1_024, 0)).toBe(2_000);
    expect(pace.consume('f', plan, 1, 25_000 * 1_024, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(pace.consume('f', plan, 1, 25_000 * 1_024, 2_000)).toBe(2_000);
  });

  it('is that of a family, and at least the calls of its plan', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 1 });
    expect(pace.consume('f', plan, 21, 0, 0)).toBe(100);
    expect(pace.consume('other', plan, 20, 0, 0)).toBe(0);
  });

  it('has no limit where calls have none', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 1 });
    expect(pace.consume('f', { rpcPerSecond: 0 }, 1e9, 0, 0)).toBe(0);
  });
});
