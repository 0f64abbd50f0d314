import { expect, it } from 'vitest';
import type { Outcome } from '../outcome.ts';
import { AttemptCounts, attemptBoundsSeconds } from './attempt-counts.ts';

const answered = (errorCode: number): Outcome => ({
  kind: 'response',
  response: { body: Buffer.from('1'), errorCode },
  preflight: null,
});

it('counts each kind of outcome once, and the durations of responses', () => {
  const counts = new AttemptCounts();
  counts.record(answered(0), 4);
  counts.record(answered(0), null);
  counts.record(answered(-32005), 20_000);
  const others: Outcome[] = [
    { kind: 'status', status: 429, retryAfterMs: null },
    { kind: 'status', status: 503, retryAfterMs: null },
    { kind: 'invalid' },
    { kind: 'too-large' },
    { kind: 'transport', wasSent: true, timedOut: true },
    { kind: 'transport', wasSent: false, timedOut: false },
    { kind: 'aborted', wasSent: true },
  ];
  for (const outcome of others) counts.record(outcome, 7);
  counts.recordSuperseded();
  expect(counts.byKind).toEqual({
    ...{ ok: 2, rpcError: 1, throttled: 1, httpError: 1, invalid: 2, timeout: 1, connection: 1, canceled: 2 },
  });
  const { buckets, seconds } = counts.durations;
  expect([buckets[0], buckets[attemptBoundsSeconds.length]]).toEqual([1, 1]);
  expect(buckets.reduce((sum, count) => sum + count)).toBe(2);
  expect(seconds).toBeCloseTo(20.004);
});
