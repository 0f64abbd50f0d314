import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from '../../src/upstream/limits.ts';
import type { NodeConfig } from '../../src/upstream/node.ts';
import { NodeRegistry } from '../../src/upstream/node-registry.ts';
import { attempt } from '../../src/upstream/retry/attempt.ts';
import { deadUrl } from './mock/dead.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { type Behaviour, type MockNode, send, startMock } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import { slow } from './mock/slow.ts';

let scene: Scene;
const others: MockNode[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await scene.close();
  await Promise.all(others.splice(0).map((mock) => mock.close()));
});

/** Limits of the fixture. */
const limits = {
  ...{ timeoutMs: 5_000, attemptTimeoutMs: 2_000, backoffMs: 5, restMs: 60 },
  ...{ pollIntervalMs: 30, pollTimeoutMs: 2_000 },
};

async function another(behaviour: Behaviour): Promise<MockNode> {
  const mock = await startMock(behaviour);
  others.push(mock);
  return mock;
}
const configOf = (name: string, { url }: MockNode): NodeConfig => ({ name, url });
const nodesAre = (...nodes: NodeConfig[]): void => scene.pool.change({ devnet: nodes }, limits);
const callTimes = async (times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await request(scene.pool, call('getBalance'));
};
/** Node selection is random: calls until the condition holds. */
const callUntil = async (condition: () => boolean): Promise<void> => {
  for (let i = 0; i < 5_000 && !condition(); i++) await callTimes(1);
  expect(condition()).toBe(true);
};

describe('changing nodes of a running pool', () => {
  it('uses added nodes and stops using removed ones', async () => {
    scene = await stage([healthy()], limits);
    const [first] = scene.mocks as [MockNode];
    const second = await another(healthy());
    nodesAre(configOf('node-1', first), configOf('second', second));
    await callUntil(() => second.received.length > 0);
    nodesAre(configOf('second', second));
    const before = first.received.length;
    await callTimes(20);
    expect(first.received.length).toBe(before);
    expect(scene.pool.status().map(({ name }) => name)).toEqual(['second']);
  });

  it('keeps all nodes if a new one is invalid', async () => {
    scene = await stage([healthy()], limits);
    const second = configOf('second', await another(healthy()));
    const broken: NodeConfig = { ...second, name: 'broken', headers: { x: 'a\nb' } };
    expect(() => scene.pool.change({ devnet: [second], testnet: [broken] }, limits)).toThrow(
      'invalid node header',
    );
    expect(scene.pool.status().map(({ name }) => name)).toEqual(['node-1']);
  });

  it('accepts an invalid percent escape in a password', async () => {
    scene = await stage([healthy()], limits);
    nodesAre({ name: 'kept', url: 'http://u:50%off@127.0.0.1:1/' });
    expect(scene.pool.status().map(({ name }) => name)).toEqual(['kept']);
  });

  it('lets removed nodes finish their calls', async () => {
    const replies: (() => void)[] = [];
    const slow: Behaviour = (request, reply) => void replies.push(() => healthy('7')(request, reply, null!));
    scene = await stage([slow], limits);
    const answer = request(scene.pool, call('getBalance'));
    await until(() => replies.length === 1);
    nodesAre(configOf('second', await another(healthy())));
    replies[0]!();
    expect((await answer).body.toString()).toBe('7');
  });

  it('keeps the state of unchanged nodes but not of changed addresses', async () => {
    scene = await stage([healthy(), healthy()], limits);
    const [first, second] = scene.mocks as [MockNode, MockNode];
    await callUntil(() => first.received.length > 0 && second.received.length > 0);
    nodesAre(configOf('node-1', first), { ...configOf('node-2', second), url: `${second.url}other` });
    expect(scene.pool.status().map(({ silentMs }) => silentMs !== null)).toEqual([true, false]);
    await callUntil(() => second.received.some(({ path }) => path === '/other'));
  });

  it('keeps node state when limits change', async () => {
    const dead = { name: 'dead', url: await deadUrl() };
    scene = await stage([dead, healthy()], { ...limits, pollIntervalMs: 10, circuitOpenMs: 60_000 });
    scene.pool.start();
    await until(() => scene.pool.status()[0]!.failuresInRow >= 5);
    const nodes = { devnet: [dead, configOf('node-1', scene.mocks[0]!)] };
    scene.pool.change(nodes, { ...limits, inFlightMax: 1 });
    expect(scene.pool.status().map(({ state }) => state)).toEqual(['failing', 'healthy']);
    scene.mocks[0]!.become((...given) => (given[0].method === 'getBalance' ? silent : healthy())(...given));
    const underWay: Promise<unknown>[] = [];
    await until(() => {
      // A health check briefly occupies the only slot, too.
      if (scene.mocks[0]!.count('getBalance') === 0) underWay.push(request(scene.pool, call('getBalance')));
      for (const pending of underWay) pending.catch(() => undefined);
      return scene.mocks[0]!.count('getBalance') === 1;
    });
    scene.pool.change({ devnet: nodes.devnet.slice(1) }, { ...limits, inFlightMax: 1 });
    await expect(request(scene.pool, call('getBalance'))).rejects.toMatchObject({ code: 'OVERLOADED' });
    await scene.pool.stop();
    await Promise.allSettled(underWay);
  });

  it('keeps cordons when limits change', async () => {
    scene = await stage([healthy(), healthy()], limits);
    const [first, second] = scene.mocks as [MockNode, MockNode];
    scene.pool.cordon('devnet', 'node-1', 'new disks');
    const nodes = { devnet: [configOf('node-1', first), configOf('node-2', second)] };
    scene.pool.change(nodes, { ...limits, connectionsMax: 3 });
    await callTimes(20);
    expect([first, second].map(({ received }) => received.length)).toEqual([0, 20]);
  });

  it('may remove all nodes', async () => {
    scene = await stage([healthy()], limits);
    nodesAre();
    await expect(request(scene.pool, call('getBalance'))).rejects.toThrow(Failure);
    nodesAre(configOf('node-1', scene.mocks[0]!));
    await callTimes(1);
  });
});

describe('shared state across node changes', () => {
  const sticky = { ...limits, loadBalancing: 'sticky', stickyMs: 60_000, pollIntervalMs: 10 } as const;

  it('keeps the sticky primary and reported states', async () => {
    scene = await stage([slow(30, healthy()), healthy()], sticky);
    const [first, second] = scene.mocks as [MockNode, MockNode];
    scene.pool.start();
    await until(() => scene.pool.status().every(({ state }) => state === 'healthy'));
    await callTimes(3);
    const nodes = [configOf('node-1', first), configOf('node-2', second)];
    const third = await another(healthy());
    const change = (changed: Partial<UpstreamLimits>) =>
      scene.pool.change({ devnet: [...nodes, configOf('third', third)] }, { ...sticky, ...changed });
    change({});
    await until(() => scene.pool.status().every(({ state }) => state === 'healthy'));
    await callTimes(3);
    expect([first, second, third].map(({ received }) => received.length)).toEqual([6, 0, 0]);
    const results = scene.logged.filter((line) => line.includes('"node-1"'));
    expect(results).toHaveLength(1);
    change({ stickyMs: 1 });
    await callUntil(() => second.received.length + third.received.length > 0);
  });

  it('keeps hedging calls that started before', async () => {
    const late = { timeoutMs: 20_000, attemptTimeoutMs: 20_000, hedgeMinMs: 50, hedgeMaxMs: 50 };
    const hedging = { ...sticky, ...late };
    scene = await stage([silent, healthy('7')], hedging);
    const [first, second] = scene.mocks as [MockNode, MockNode];
    const answer = request(scene.pool, call('getBalance'));
    const third = configOf('third', await another(healthy()));
    const nodes = [configOf('node-1', first), configOf('node-2', second), third];
    scene.pool.change({ devnet: nodes }, hedging);
    expect((await answer).body.toString()).toBe('7');
    expect([first, second].map(({ received }) => received.length)).toEqual([1, 1]);
  });
});

it('keeps a removed node for calls with an earlier, longer timeout', async () => {
  scene = await stage([healthy(), healthy('7')], limits);
  const [a, b] = scene.mocks.map((mock, at) => configOf(`node-${at}`, mock)) as [NodeConfig, NodeConfig];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const before = { ...defaultUpstreamLimits, timeoutMs: 30_000 };
  const sets = new NodeRegistry(
    { devnet: [a, b] },
    before,
    createLogger('silent', () => {}),
  );
  const leaving = sets.find('devnet', 'node-1')!;
  sets.change({ devnet: [a] }, { ...before, timeoutMs: 100 });
  const kind = async () => (await attempt(leaving, call('getBalance'), 20_000)).outcome.kind;
  vi.advanceTimersByTime(20_000);
  expect(await kind()).toBe('response');
  vi.advanceTimersByTime(20_000);
  expect(await kind()).toBe('transport');
  sets.stop();
});

describe('drained node', () => {
  it('receives no calls, even as the last one, until it is undrained', async () => {
    const replies: (() => void)[] = [];
    const slow: Behaviour = ({ id }, reply) =>
      void replies.push(() => send(reply, `{"jsonrpc":"2.0","result":1,"id":${id}}`));
    scene = await stage([slow, healthy()], limits);
    scene.pool.cordon('devnet', 'node-2', '');
    const underWay = request(scene.pool, call('getBalance'));
    await until(() => replies.length === 1);
    scene.pool.uncordon('devnet', 'node-2');
    scene.pool.drain(new Set(['devnet/node-1']));
    expect(scene.pool.status()[0]).toMatchObject({ state: 'draining', drained: true, inFlight: 1 });
    replies[0]!();
    expect((await underWay).body.toString()).toBe('1');
    await callTimes(20);
    expect(scene.mocks.map(({ received }) => received.length)).toEqual([1, 20]);
    expect(scene.pool.status()[0]).toMatchObject({ state: 'drained', reason: 'drained by the operator' });
    scene.pool.drain(new Set(['devnet/node-1', 'devnet/node-2']));
    await expect(request(scene.pool, call('getBalance'))).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
    scene.pool.drain(new Set());
    scene.mocks[0]!.become(healthy());
    await callTimes(20);
  });
});
