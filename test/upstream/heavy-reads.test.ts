import { afterEach, expect, it } from 'vitest';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import { slow } from './mock/slow.ts';

/** Reads that may take a node all the time there is are not lost with it, while another could have answered. */
let scene: Scene;
afterEach(() => scene.close());

const SCANS = 8;
const scan = call('getProgramAccounts', ['11111111111111111111111111111111']);
const answers = async (): Promise<string[]> => {
  const all = await Promise.all(Array.from({ length: SCANS }, () => scene.pool.request(scan)));
  return all.map(({ body }) => body.toString());
};

it('go to another node when theirs answers nothing any more', async () => {
  scene = await stage([silent, healthy('[2]')], { pollTimeoutMs: 50, hedgeRatio: 0, circuitFailuresMax: 99 });
  scene.pool.start();
  expect(await answers()).toEqual(Array(SCANS).fill('[2]'));
  expect(scene.mocks[0]?.count('getProgramAccounts')).toBeGreaterThan(0);
});

it('are put to a second one too when theirs takes longer than anything light may, and answers the rest', async () => {
  const stuck: Behaviour = (request, reply, socket) =>
    (request.method === 'getProgramAccounts' ? silent : healthy())(request, reply, socket);
  scene = await stage([stuck, healthy('[2]')], { attemptTimeoutMs: 60 });
  expect(await answers()).toEqual(Array(SCANS).fill('[2]'));
});

it('stay with a node that is at work', async () => {
  scene = await stage([slow(150, healthy('[1]')), slow(150, healthy('[1]'))], { attemptTimeoutMs: 4_000 });
  expect(await answers()).toEqual(Array(SCANS).fill('[1]'));
  expect(scene.mocks.reduce((sum, mock) => sum + mock.count('getProgramAccounts'), 0)).toBe(SCANS);
});
