import { afterEach, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import { slow } from './mock/slow.ts';

/** Scans survive a dead node while another can answer. */
let scene: Scene;
afterEach(() => scene.close());

const SCANS = 8;
const scan = call('getProgramAccounts', ['11111111111111111111111111111111']);
const answers = async (): Promise<string[]> => {
  const all = await Promise.all(Array.from({ length: SCANS }, () => request(scene.pool, scan)));
  return all.map(({ body }) => body.toString());
};

it('fail over from a node that no longer responds', async () => {
  scene = await stage([silent, healthy('[2]')], { pollTimeoutMs: 50, hedgeRatio: 0, circuitFailuresMax: 99 });
  scene.pool.start();
  expect(await answers()).toEqual(Array(SCANS).fill('[2]'));
  expect(scene.mocks[0]?.count('getProgramAccounts')).toBeGreaterThan(0);
});

it('are hedged when slower than any light read', async () => {
  const stuck: Behaviour = (request, reply, socket) =>
    (request.method === 'getProgramAccounts' ? silent : healthy())(request, reply, socket);
  scene = await stage([stuck, healthy('[2]')], { attemptTimeoutMs: 60 });
  expect(await answers()).toEqual(Array(SCANS).fill('[2]'));
});

it('stay with a node that is working', async () => {
  scene = await stage([slow(150, healthy('[1]')), slow(150, healthy('[1]'))], { attemptTimeoutMs: 4_000 });
  expect(await answers()).toEqual(Array(SCANS).fill('[1]'));
  expect(scene.mocks.reduce((sum, mock) => sum + mock.count('getProgramAccounts'), 0)).toBe(SCANS);
});
