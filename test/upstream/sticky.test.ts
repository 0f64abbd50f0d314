import { afterEach, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';

let scene: Scene;
afterEach(() => scene.close());

const callTimes = async (times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await request(scene.pool, call('getBalance'));
};
const busy = (): number[] =>
  scene.mocks.flatMap(({ received }, index) => (received.length > 0 ? [index] : []));

it('sticky calls stay at one node and leave it at once when it is cordoned', async () => {
  scene = await stage([healthy(), healthy(), healthy()], { loadBalancing: 'sticky' });
  scene.pool.start();
  await until(() => scene.pool.status().every(({ state }) => state === 'healthy'));
  await callTimes(20);
  const [first, ...others] = busy();
  expect(others).toEqual([]);
  scene.pool.cordon('devnet', `node-${first! + 1}`, '');
  const before = scene.mocks[first!]!.received.length;
  await callTimes(20);
  expect(scene.mocks[first!]!.received).toHaveLength(before);
  expect(busy()).toHaveLength(2);
});
