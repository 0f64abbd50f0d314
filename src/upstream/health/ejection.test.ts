import { beforeEach, describe, expect, it } from 'vitest';
import { Ejection, RecentOutcomes } from './ejection.ts';

const limits = { ejectionMaxMs: 60_000, readmitSuccessesMin: 3, readmitPollsMin: 2, slowMs: 1_000 };

let ejection: Ejection;
beforeEach(() => {
  ejection = new Ejection(limits);
});

/** Polls successfully until re-admitted. @returns the number of polls. */
function pollsUntilReadmitted(now: number): number {
  let polls = 0;
  while (ejection.reason !== null && polls < 1_000) {
    ejection.notePoll(true);
    ejection.review(true, now);
    polls++;
  }
  return polls;
}

describe('Ejection', () => {
  it('re-admits a node after enough consecutive polls without calls', () => {
    ejection.eject('failing', 0);
    ejection.notePoll(true);
    expect(ejection.review(true, 1)).toBe(false);
    ejection.notePoll(false);
    ejection.notePoll(true);
    expect(ejection.review(true, 2)).toBe(false);
    ejection.notePoll(true);
    expect(ejection.review(true, 3)).toBe(true);
    expect(ejection.reason).toBeNull();
  });

  it('ejects again after one failed call and doubles the required polls up to 16 times', () => {
    ejection.eject('failing', 0);
    const needed: number[] = [];
    for (let i = 0; i < 6; i++) {
      needed.push(pollsUntilReadmitted(i));
      ejection.noteCall('failed', 5, i);
      // Calls in flight at that time are not relapses.
      ejection.noteCall('failed', 5, i);
      expect(ejection.reason).toBe('failing');
    }
    expect(needed).toEqual([2, 4, 8, 16, 32, 32]);
  });

  it('ends probation after enough successful calls or the maximum time', () => {
    const prove = (now: number): void => {
      for (let i = 0; i < 3; i++) ejection.noteCall('succeeded', 5, now);
    };
    const wait = (): void => {};
    for (const recover of [prove, wait]) {
      ejection.eject('failing', 0);
      pollsUntilReadmitted(0);
      ejection.noteCall('failed', 5, 0);
      expect(pollsUntilReadmitted(0)).toBe(4);
      recover(1);
      ejection.review(true, recover === prove ? 1 : 60_001);
      ejection.noteCall('failed', 5, 60_002);
      expect(ejection.reason).toBeNull();
      ejection.eject('failing', 60_003);
      expect(pollsUntilReadmitted(60_003)).toBe(2);
      ejection = new Ejection(limits);
    }
  });

  it('ejects again for a slow response only if the node was ejected as slow', () => {
    ejection.eject('throttling', 0);
    pollsUntilReadmitted(0);
    ejection.noteCall('succeeded', 2_000, 0);
    expect(ejection.reason).toBeNull();
    ejection.noteCall('throttled', 5, 0);
    expect(ejection.reason).toBe('throttling');
    ejection = new Ejection(limits);
    ejection.eject('slow', 0);
    pollsUntilReadmitted(0);
    ejection.noteCall('succeeded', 2_000, 0);
    expect(ejection.reason).toBe('slow');
  });
});

describe('RecentOutcomes', () => {
  it('reports ratios', () => {
    const recent = new RecentOutcomes({ windowMs: 1_000 });
    for (let i = 0; i < 6; i++) recent.record('succeeded', null, 600);
    for (let i = 0; i < 3; i++) recent.record('failed', null, 600);
    recent.record('throttled', null, 600);
    expect(recent.attempts(600)).toBe(10);
    expect(recent.failedShare(600)).toBe(0.3);
    expect(recent.throttledShare(600)).toBe(0.1);
  });

  it('drops half a window at a time', () => {
    const recent = new RecentOutcomes({ windowMs: 1_000 });
    recent.record('failed', null, 600);
    expect(recent.attempts(1_100)).toBe(1);
    expect(recent.attempts(1_600)).toBe(0);
    recent.record('failed', null, 1_700);
    expect(recent.attempts(9_000)).toBe(0);
  });

  it('reports latencies', () => {
    const recent = new RecentOutcomes({ windowMs: 1_000 });
    for (let i = 0; i < 8; i++) recent.record('succeeded', 10, 0);
    for (let i = 0; i < 2; i++) recent.record('succeeded', 4_000, 0);
    expect(recent.latencyMs(0.7, 0)).toBeLessThan(13);
    expect(recent.latencyMs(0.9, 0)).toBeGreaterThan(3_900);
  });
});
