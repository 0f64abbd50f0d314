import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { slot } from '../../../src/solana/units.ts';
import { feedLimits } from '../../../src/upstream/feeds/limits.ts';
import { PubsubNodes } from '../../../src/upstream/feeds/pubsub-nodes.ts';
import type { NodeState } from '../../../src/upstream/health/node-state.ts';
import type { NodeFeedStatus } from '../../../src/upstream/node-status.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import { type Scene, stage, subscriptionOf, until } from './stage.ts';

const [vote, root] = [subscriptionOf('vote'), subscriptionOf('root')];
const states = new Map<string, NodeState>();
const stateOf = (name: string): NodeState => states.get(name) ?? 'healthy';

let scene: Scene | null = null;
afterEach(async () => {
  await scene?.close();
  scene = null;
  states.clear();
});

const kinds = (at: number): string[] => scene!.mocks[at]!.received.map(({ method }) => method);

describe('the PubSub of a node on the wrong chain', () => {
  it('is not used, even when the others are full', async () => {
    states.set('node-1', 'wrong-chain');
    const limits = { connectionSubscriptionsMax: 2, nodeConnectionsMax: 1, openTimeoutMs: 60_000 };
    scene = await stage([healthy, healthy], { stateOf, limits });
    await scene.feed.open(vote, new Recorder());
    await expect(scene.feed.open(root, new Recorder())).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect([kinds(0), kinds(1)]).toEqual([[], ['slotSubscribe', 'voteSubscribe']]);
  });

  it('is not used even without another node', async () => {
    states.set('node-1', 'wrong-chain');
    scene = await stage([healthy], { stateOf, limits: { openTimeoutMs: 300 } });
    await expect(scene.feed.open(vote, new Recorder())).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
    expect(kinds(0)).toEqual([]);
  });

  it('is left once detected', async () => {
    scene = await stage([healthy, healthy], { stateOf });
    await scene.feed.open(vote, new Recorder());
    expect(kinds(0)).toContain('voteSubscribe');
    states.set('node-1', 'wrong-chain');
    await until(() => kinds(1).includes('voteSubscribe'), 'another is asked');
    expect(scene.logged.join()).toContain('wrong chain');
  });

  it('does not replace a lagging node', async () => {
    states.set('node-2', 'wrong-chain');
    scene = await stage([healthy, healthy, healthy], { stateOf });
    await scene.feed.open(vote, new Recorder());
    scene.mocks[2]!.tick(100);
    scene.networkSlot(1_100);
    await until(() => kinds(2).includes('voteSubscribe'), 'a good one is asked');
    expect(scene.logged.filter((line) => line.includes('"node":"node-2"'))).toEqual([]);
  });

  it("is ignored for the network's slot", () => {
    const status = (name: string, at: number): NodeFeedStatus => ({
      name,
      network: 'devnet',
      state: stateOf(name),
      slot: slot(at),
      silentMs: 0,
    });
    const nodes = new PubsubNodes({
      network: 'devnet',
      nodes: [],
      status: () => [status('node-1', 5_000), status('node-2', 1_000)],
      limits: feedLimits,
      log: createLogger('debug', () => {}),
    });
    states.set('node-1', 'wrong-chain');
    expect(nodes.networkSlot()).toBe(1_000n);
    nodes.close();
  });
});
