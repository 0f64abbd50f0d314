import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import type { NodeConfig } from '../../src/upstream/node.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { type Behaviour, type MockNode, send, startMock } from './mock/server.ts';

let scene: Scene;
const others: MockNode[] = [];
afterEach(async () => {
  await scene.close();
  await Promise.all(others.splice(0).map((mock) => mock.close()));
});

/** Those of the stage: with others every node would be made anew. */
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
const askTimes = async (times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await scene.pool.ask(call('getBalance'));
};
/** Nodes are drawn by lot: asks until it was this one's turn. */
const askUntil = async (condition: () => boolean): Promise<void> => {
  for (let i = 0; i < 5_000 && !condition(); i++) await askTimes(1);
  expect(condition()).toBe(true);
};

describe('nodes of a pool that answers', () => {
  it('that are added are asked, and those that are removed are not', async () => {
    scene = await stage([healthy()], limits);
    const [first] = scene.mocks as [MockNode];
    const second = await another(healthy());
    nodesAre(configOf('node-1', first), configOf('second', second));
    await askUntil(() => second.received.length > 0);
    nodesAre(configOf('second', second));
    const before = first.received.length;
    await askTimes(20);
    expect(first.received.length).toBe(before);
    expect(scene.pool.status().map(({ name }) => name)).toEqual(['second']);
  });

  it('that are removed finish what is under way', async () => {
    const replies: (() => void)[] = [];
    const slow: Behaviour = (request, reply) => void replies.push(() => healthy('7')(request, reply, null!));
    scene = await stage([slow], limits);
    const answer = scene.pool.ask(call('getBalance'));
    await until(() => replies.length === 1);
    nodesAre(configOf('second', await another(healthy())));
    replies[0]!();
    expect((await answer).body.toString()).toBe('7');
  });

  it('that stay keep what is known of them, and those with another address do not', async () => {
    scene = await stage([healthy(), healthy()], limits);
    const [first, second] = scene.mocks as [MockNode, MockNode];
    await askUntil(() => first.received.length > 0 && second.received.length > 0);
    nodesAre(configOf('node-1', first), { ...configOf('node-2', second), url: `${second.url}other` });
    expect(scene.pool.status().map(({ silentMs }) => silentMs !== null)).toEqual([true, false]);
    await askUntil(() => second.received.some(({ path }) => path === '/other'));
  });

  it('stay out of service when their limits change', async () => {
    scene = await stage([healthy(), healthy()], limits);
    const [first, second] = scene.mocks as [MockNode, MockNode];
    scene.pool.cordon('devnet', 'node-1', 'new disks');
    const nodes = { devnet: [configOf('node-1', first), configOf('node-2', second)] };
    scene.pool.change(nodes, { ...limits, connectionsMax: 3 });
    await askTimes(20);
    expect([first, second].map(({ received }) => received.length)).toEqual([0, 20]);
  });

  it('may be none for a while', async () => {
    scene = await stage([healthy()], limits);
    nodesAre();
    await expect(scene.pool.ask(call('getBalance'))).rejects.toThrow(Failure);
    nodesAre(configOf('node-1', scene.mocks[0]!));
    await askTimes(1);
  });
});

describe('a node that the operator drains', () => {
  it('gets no call, also where it is the last, until it is put back', async () => {
    const replies: (() => void)[] = [];
    const slow: Behaviour = ({ id }, reply) =>
      void replies.push(() => send(reply, `{"jsonrpc":"2.0","result":1,"id":${id}}`));
    scene = await stage([slow, healthy()], limits);
    scene.pool.cordon('devnet', 'node-2', '');
    const underWay = scene.pool.ask(call('getBalance'));
    await until(() => replies.length === 1);
    scene.pool.uncordon('devnet', 'node-2');
    scene.pool.drain(new Set(['devnet/node-1']));
    expect(scene.pool.status()[0]).toMatchObject({ state: 'draining', drained: true, inFlight: 1 });
    replies[0]!();
    expect((await underWay).body.toString()).toBe('1');
    await askTimes(20);
    expect(scene.mocks.map(({ received }) => received.length)).toEqual([1, 20]);
    expect(scene.pool.status()[0]).toMatchObject({ state: 'drained', reason: 'drained by the operator' });
    scene.pool.drain(new Set(['devnet/node-1', 'devnet/node-2']));
    await expect(scene.pool.ask(call('getBalance'))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    scene.pool.drain(new Set());
    scene.mocks[0]!.become(healthy());
    await askTimes(20);
  });
});
