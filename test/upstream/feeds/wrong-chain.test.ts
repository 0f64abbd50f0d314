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

const vote = subscriptionOf('vote');
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
    await until(() => kinds(1).includes('voteSubscribe'), 'another is used');
    expect(scene.logged.join()).toContain('wrong chain');
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
