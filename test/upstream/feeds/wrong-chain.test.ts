import { afterEach, describe, expect, it } from 'vitest';
import type { NodeState } from '../../../src/upstream/health/node-state.ts';
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
});
