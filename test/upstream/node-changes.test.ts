import { afterEach, describe, expect, it, vi } from 'vitest';
import type { NodeConfig } from '../../src/upstream/node.ts';
import { healthy, holding } from './mock/behaviors.ts';
import { closeAfterEach, type Scene, stageForEach, until } from './mock/pool.ts';
import { type Behaviour, type MockNode, startMock } from './mock/server.ts';

const stage = stageForEach();
const closing = closeAfterEach();
afterEach(() => void vi.useRealTimers());

const limits = {
  ...{ timeoutMs: 5_000, attemptTimeoutMs: 2_000, backoffMs: 5, throttleMs: 60 },
  ...{ pollIntervalMs: 30, pollTimeoutMs: 2_000 },
};

const another = async (behaviour: Behaviour = healthy()): Promise<MockNode> =>
  closing(await startMock(behaviour));
const configOf = (name: string, { url }: MockNode): NodeConfig => ({ name, url });
const configsOf = ({ mocks }: Scene): NodeConfig[] =>
  mocks.map((mock, at) => configOf(`node-${at + 1}`, mock));
const namesOf = ({ pool }: Scene): string[] => pool.status().map(({ name }) => name);
/**
 * Node selection is random, so this calls until the condition holds: several at once, since a node without a measured
 * latency is not selected while a faster one is idle.
 */
async function callUntil({ send }: Scene, condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1_000 && !condition(); i++) await Promise.all([send(), send(), send(), send(), send()]);
  expect(condition()).toBe(true);
}

describe('changing nodes of a running pool', () => {
  it('uses added nodes and stops using removed ones, even all of them', async () => {
    const scene = await stage([healthy()], limits);
    const [first] = configsOf(scene) as [NodeConfig];
    const mock = await another();
    const second = configOf('second', mock);
    scene.pool.change({ devnet: [first, second] }, limits);
    await callUntil(scene, () => mock.received.length > 0);
    scene.pool.change({ devnet: [second] }, limits);
    const before = scene.counts();
    await scene.sendMany(20);
    expect([scene.counts(), namesOf(scene)]).toEqual([before, ['second']]);
    scene.pool.change({ devnet: [] }, limits);
    expect(await scene.send()).toMatch(/^[A-Z_]+$/);
    scene.pool.change({ devnet: [first] }, limits);
    expect(await scene.send()).toBe('"ok"');
  });

  it('keeps all nodes if a new one is invalid', async () => {
    const scene = await stage([healthy()], limits);
    const second = configOf('second', await another());
    const broken: NodeConfig = { ...second, name: 'broken', headers: { x: 'a\nb' } };
    expect(() => scene.pool.change({ devnet: [second], testnet: [broken] }, limits)).toThrow(
      'invalid node header',
    );
    expect(namesOf(scene)).toEqual(['node-1']);
  });

  it('lets removed nodes finish their calls', async () => {
    const held: (() => void)[] = [];
    const { pool, send } = await stage([holding(held, healthy('7'))], limits);
    const answer = send();
    await until(() => held.length === 1);
    pool.change({ devnet: [configOf('second', await another())] }, limits);
    held[0]!();
    expect(await answer).toBe('7');
  });
});

it('a drained node receives no calls, even as the last one, until it is undrained', async () => {
  const held: (() => void)[] = [];
  const scene = await stage([holding(held, healthy('1')), healthy()], limits);
  const { pool, mocks, send } = scene;
  pool.cordon('devnet', 'node-2', '');
  const pending = send();
  await until(() => held.length === 1);
  pool.uncordon('devnet', 'node-2');
  pool.drain(new Set(['devnet/node-1']));
  expect(pool.status()[0]).toMatchObject({ state: 'draining', drained: true, inFlight: 1 });
  held[0]!();
  expect(await pending).toBe('1');
  await scene.sendMany(20);
  expect(scene.counts()).toEqual([1, 20]);
  expect(pool.status()[0]).toMatchObject({ state: 'drained', reason: 'taken out of service by an operator' });
  pool.drain(new Set(['devnet/node-1', 'devnet/node-2']));
  expect(await send()).toBe('UPSTREAM_UNAVAILABLE');
  pool.drain(new Set());
  mocks[0]!.become(healthy());
  expect(new Set(await scene.sendMany(20))).toEqual(new Set(['"ok"']));
});
