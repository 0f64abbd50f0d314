import { describe, expect, it } from 'vitest';
import type { CallAttempt } from '../../src/protocol/call.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import { dyingAfterRequest, healthy, inSequence, silent, slow } from './mock/behaviors.ts';
import { call, type Scene, stageForEach } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';

const stage = stageForEach();

const open = (
  behaviours: readonly Behaviour[],
  limits: Partial<UpstreamLimits> = {},
  nodes = 2,
): Promise<Scene> => {
  const quick = { hedgeMinMs: 30, hedgeMaxMs: 30, attemptTimeoutMs: 4_000 };
  return stage(Array(nodes).fill(inSequence(...behaviours)), { ...quick, ...limits });
};

const total = ({ counts }: Scene): number => counts().reduce((sum, count) => sum + count);

describe('hedged read', () => {
  it('is answered by the second node and both attempts are traced', async () => {
    const { pool } = await open([silent, healthy('2')]);
    const attempts: CallAttempt[] = [];
    const trace = { onAttempt: (attempt: CallAttempt) => void attempts.push(attempt) };
    const answer = await request(pool, { ...call('getBalance'), trace });
    expect(answer.body.toString()).toBe('2');
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['ok', 'superseded by another node']);
    expect(new Set(attempts.map(({ node }) => node)).size).toBe(2);
    const [late, quick] = pool.status().toSorted((a, b) => a.hedges - b.hedges);
    expect([late!.hedges, quick!.hedges]).toEqual([0, 1]);
    expect(pool.status().map(({ inFlight, failuresInRow }) => [inFlight, failuresInRow])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(late!.latencyMs).toBeGreaterThan(25);
  });

  it.each<[string, string, unknown[], string, Behaviour[]]>([
    [
      'not with a null while another attempt is in flight',
      'getTransaction',
      ['x'],
      '1',
      [slow(150, healthy('1')), healthy('null')],
    ],
    [
      'with the null if the other attempt gives nothing better',
      'getTransaction',
      ['x'],
      'null',
      [slow(100, dyingAfterRequest), healthy('null')],
    ],
  ])('is answered %s', async (_name, method, params, expected, behaviours) => {
    const scene = await open(behaviours);
    expect(await scene.send(method, params)).toBe(expected);
    expect(total(scene)).toBe(2);
  });
});
