import { describe, expect, it } from 'vitest';
import { RecentOutcomes } from './recent-outcomes.ts';

describe('what became of the calls of the last while', () => {
  it('is nothing where nobody asked', () => {
    const recent = new RecentOutcomes({ windowMs: 1_000 });
    expect([recent.attempts(0), recent.failedShare(0), recent.latencyMs(0.7, 0)]).toEqual([0, null, null]);
  });

  it('is told in shares', () => {
    const recent = new RecentOutcomes({ windowMs: 1_000 });
    for (let i = 0; i < 6; i++) recent.record('answered', 600);
    for (let i = 0; i < 3; i++) recent.record('failed', 600);
    recent.record('throttled', 600);
    expect(recent.attempts(600)).toBe(10);
    expect(recent.failedShare(600)).toBe(0.3);
    expect(recent.throttledShare(600)).toBe(0.1);
  });

  it('is forgotten a half of the window at a time', () => {
    const recent = new RecentOutcomes({ windowMs: 1_000 });
    recent.record('failed', 600);
    expect(recent.attempts(1_100)).toBe(1);
    expect(recent.attempts(1_600)).toBe(0);
    recent.record('failed', 1_700);
    expect(recent.attempts(9_000)).toBe(0);
  });

  it('is how long answers took', () => {
    const recent = new RecentOutcomes({ windowMs: 1_000 });
    for (let i = 0; i < 8; i++) recent.recordLatency(10);
    for (let i = 0; i < 2; i++) recent.recordLatency(4_000);
    expect(recent.latencyMs(0.7, 0)).toBeLessThan(13);
    expect(recent.latencyMs(0.9, 0)).toBeGreaterThan(3_900);
  });
});
