import { describe, expect, it } from 'vitest';
import { MessageRateLimiter } from './message-rate-limiter.ts';

const plan = { rpcPerSecond: 10 };

describe('message rate limiter', () => {
  it('allows a burst of two seconds, then pauses for the excess', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 100 });
    expect(pace.consume('f', plan, 200, 0, 0)).toBe(0);
    expect(pace.consume('f', plan, 50, 0, 0)).toBe(500);
    expect(pace.consume('f', plan, 0, 0, 500)).toBe(0);
    expect(pace.consume('f', plan, 1, 0, 500)).toBe(10);
  });

  it('counts a KiB as one message', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 100 });
    expect(pace.consume('f', plan, 0, 300 * 1_024, 0)).toBe(1_000);
  });

  it('closes a flooding connection, and recovers within the same time', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 100 });
    expect(pace.consume('f', plan, 201, 0, 0)).toBe(10);
    expect(pace.consume('f', plan, 200, 0, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(pace.consume('f', plan, 100, 0, 1_000)).toBe(2_000);
  });

  it('accepts one message of any size if there is no debt', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 100 });
    expect(pace.consume('f', plan, 1, 25_000 * 1_024, 0)).toBe(2_000);
    expect(pace.consume('f', plan, 1, 25_000 * 1_024, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(pace.consume('f', plan, 1, 25_000 * 1_024, 2_000)).toBe(2_000);
  });

  it('limits per family, at least at the call rate of the plan', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 1 });
    expect(pace.consume('f', plan, 21, 0, 0)).toBe(100);
    expect(pace.consume('other', plan, 20, 0, 0)).toBe(0);
  });

  it('sets no limit if the plan has no call rate', () => {
    const pace = new MessageRateLimiter({ messagesPerSecond: 1 });
    expect(pace.consume('f', { rpcPerSecond: 0 }, 1e9, 0, 0)).toBe(0);
  });
});
