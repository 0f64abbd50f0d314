import { describe, expect, it } from 'vitest';
import { methods } from '../../protocol/methods.ts';
import { MethodLatencies } from './method-latencies.ts';

const { getBalance, getBlock } = methods;

describe('how long a node is waited for', () => {
  it('is the ceiling while little is known of a method', () => {
    const latencies = new MethodLatencies({ hedgeQuantile: 0.95, hedgeMinMs: 100, hedgeMaxMs: 2_000 });
    for (let i = 0; i < 10; i++) latencies.record(getBalance, 5);
    expect(latencies.hedgeAfterMs(getBalance)).toBe(2_000);
    expect(latencies.hedgeAfterMs(getBlock)).toBe(2_000);
  });

  it('is what nearly all answers of the method take, never less than the floor', () => {
    const latencies = new MethodLatencies({ hedgeQuantile: 0.95, hedgeMinMs: 100, hedgeMaxMs: 2_000 });
    for (let i = 0; i < 100; i++) {
      latencies.record(getBalance, 5);
      latencies.record(getBlock, i % 10 > 0 ? 50 : 400);
    }
    expect(latencies.hedgeAfterMs(getBalance)).toBe(100);
    expect(latencies.hedgeAfterMs(getBlock)).toBeGreaterThan(390);
    expect(latencies.hedgeAfterMs(getBlock)).toBeLessThan(520);
  });

  it('follows a node that changes', () => {
    const latencies = new MethodLatencies({ hedgeQuantile: 0.95, hedgeMinMs: 1, hedgeMaxMs: 2_000 });
    for (let i = 0; i < 4_000; i++) latencies.record(getBalance, 500);
    for (let i = 0; i < 12_000; i++) latencies.record(getBalance, 5);
    expect(latencies.hedgeAfterMs(getBalance)).toBeLessThan(10);
  });
});
