import { afterEach, describe, expect, it } from 'vitest';
import type { FeedError } from '../../../src/streams/feed.ts';
import type { NodeState } from '../../../src/upstream/health/node-state.ts';
import { Recorder } from './listener.ts';
import {
  closing,
  duplicateIds,
  healthy,
  invalidJson,
  mute,
  refusing,
  wrongIds,
} from './mock/pubsub-behaviors.ts';
import type { PubsubBehaviour } from './mock/pubsub-server.ts';
import { type Scene, type SceneOptions, stage, subscriptionOf, until } from './stage.ts';

const KEY = 'Vote111111111111111111111111111111111111111';
const vote = subscriptionOf('vote');
const account = subscriptionOf('account', KEY, { commitment: 'confirmed', encoding: 'base64' });

let scene: Scene | null = null;
afterEach(async () => {
  await scene?.close();
  scene = null;
});

async function set(behaviours: readonly PubsubBehaviour[], options?: SceneOptions): Promise<Scene> {
  scene = await stage(behaviours, options);
  return scene;
}

const refusal = (opened: Promise<unknown>): Promise<FeedError> =>
  opened.then(
    () => {
      throw new Error('it was opened');
    },
    (fault: FeedError) => fault,
  );

describe('a PubSub feed', () => {
  it('shares one upstream subscription among equal ones and ends it with the last of them', async () => {
    const { feed, mocks } = await set([healthy]);
    const [one, other] = [new Recorder(), new Recorder()];
    const ends = await Promise.all([feed.open(vote, one), feed.open(vote, other)]);
    const [mock] = mocks;
    const [peer] = mock!.peers;
    peer?.notify('vote', 1);
    await other.until(({ raw }) => raw.length === 1, 'the first vote');
    ends[0]?.();
    peer?.notify('vote', 2);
    await other.until(({ raw }) => raw.length === 2, 'the second vote');
    expect(mock?.count('voteUnsubscribe')).toBe(0);
    ends[1]?.();
    await until(() => mock?.count('voteUnsubscribe') === 1, 'the subscription is ended');
    expect([one.raw, other.raw]).toEqual([['1'], ['1', '2']]);
    expect(mock?.count('voteSubscribe')).toBe(1);
  });

  it('spreads subscriptions over nodes and rejects at once when all nodes are full', async () => {
    const limits = { connectionSubscriptionsMax: 2, nodeConnectionsMax: 1, openTimeoutMs: 60_000 };
    const { feed, mocks } = await set([healthy, healthy], { limits });
    const root = subscriptionOf('root');
    const end = await feed.open(vote, new Recorder());
    await feed.open(account, new Recorder());
    expect(mocks.map((mock) => mock.count('voteSubscribe') + mock.count('accountSubscribe'))).toEqual([1, 1]);
    expect(await refusal(feed.open(root, new Recorder()))).toMatchObject({ code: 'OVERLOADED' });
    end();
    await feed.open(root, new Recorder());
  });

  it('opens another connection when one is full', async () => {
    const { feed, mocks } = await set([healthy], { limits: { connectionSubscriptionsMax: 2 } });
    await feed.open(vote, new Recorder());
    await feed.open(account, new Recorder());
    expect(mocks[0]!.peers.size).toBe(2);
  });

  it.each([
    ['never responds', mute],
    ['responds to another request', wrongIds],
    ['sends invalid JSON', invalidJson],
    ['closes the connection', closing],
    ['uses an id twice', duplicateIds],
    ['lacks the method', refusing(-32601, 'Method not found')],
  ])('uses another node when one %s', async (_, behaviour) => {
    const { feed, mocks } = await set([behaviour, healthy]);
    const received = [];
    for (let i = 0; i < 3; i++) {
      const recorder = new Recorder();
      received.push(recorder);
      await feed.open(subscriptionOf('logs', i === 0 ? 'all' : { mentions: [KEY] }, {}), recorder);
    }
    expect(mocks[1]?.count('logsSubscribe')).toBeGreaterThan(0);
    await until(() => [...mocks[1]!.peers].some(({ ids }) => ids.has('logsSubscribe')), 'it is acknowledged');
  });

  it('returns the error of a node that rejects the parameters, without trying another', async () => {
    const behaviour = refusing(-32602, 'Invalid Request: Invalid pubkey provided');
    const { feed, mocks } = await set([behaviour, behaviour]);
    const refused = await refusal(feed.open(account, new Recorder()));
    expect(refused).toMatchObject({ code: -32602, message: 'Invalid Request: Invalid pubkey provided' });
    expect(mocks.map((mock) => mock.count('accountSubscribe')).sort()).toEqual([0, 1]);
  });

  it('rejects requests above the size limit without sending them', async () => {
    const { feed, mocks } = await set([healthy], { limits: { requestMaxBytes: 120 } });
    const refused = await refusal(feed.open(account, new Recorder()));
    expect(refused).toMatchObject({ code: 'MESSAGE_TOO_LARGE', facts: { messageMaxBytes: 120 } });
    expect(mocks[0]?.received).toEqual([]);
  });

  it.each([
    ['escaped', 'bad key \\u0033f1c2d9e8b7a6f5E'],
    ['escaped twice', 'bad key \\\\u0033f1c2d9e8b7a6f5e'],
    ['percent-encoded', 'bad key %33f1c2d9e8b7a6f5%65'],
  ])('does not forward an API key that a node sends %s', async (_, message) => {
    const behaviour: PubsubBehaviour = (request, peer) => {
      if (request.method === 'slotSubscribe') healthy(request, peer);
      else peer.send(`{"jsonrpc":"2.0","error":{"code":-32602,"message":"${message}"},"id":${request.id}}`);
    };
    const { feed } = await set([behaviour], { secret: '3f1c2d9e8b7a6f5e', limits: { openTimeoutMs: 200 } });
    expect(await refusal(feed.open(account, new Recorder()))).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  it('fails over from a node whose slots stall while the network advances', async () => {
    const { feed, mocks, networkSlot, logged } = await set([healthy, healthy]);
    const received = new Recorder();
    await feed.open(vote, received);
    const first = mocks.findIndex((mock) => mock.count('voteSubscribe') === 1);
    const other = mocks[1 - first];
    networkSlot(1_001);
    await until(() => other?.count('voteSubscribe') === 1, 'it is opened on the other node');
    other?.tick();
    const peer = [...other!.peers].find(({ ids }) => ids.has('voteSubscribe'));
    await until(() => {
      other?.tick();
      peer?.notify('vote', 5);
      return received.raw.length > 0;
    }, 'votes of the other node');
    expect(logged.join()).toContain('slot stalled');
  });

  it('fails over from a node that answers no ping, even while the network stalls', async () => {
    const limits = { pingIntervalMs: 50, pongTimeoutMs: 300 };
    const { feed, mocks, logged } = await set([healthy, healthy], { limits });
    await feed.open(vote, new Recorder());
    for (const peer of mocks[0]!.peers) peer.socket.pause();
    await until(() => mocks[1]!.count('voteSubscribe') > 0, 'the other node is used');
    expect(logged.join()).toContain('ping timeout');
  });

  it('does not use a node on the wrong chain, even if it is the only one', async () => {
    const limits = { openTimeoutMs: 300 };
    const { feed, mocks } = await set([healthy], { stateOf: () => 'wrong-chain', limits });
    expect(await refusal(feed.open(vote, new Recorder()))).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(mocks[0]?.received).toEqual([]);
  });

  it('prefers a healthy node', async () => {
    const stateOf = (name: string): NodeState => (name === 'node-1' ? 'failing' : 'healthy');
    const { feed, mocks } = await set([healthy, healthy], { stateOf });
    await feed.open(vote, new Recorder());
    expect(mocks.map((mock) => mock.count('voteSubscribe'))).toEqual([0, 1]);
  });

  it('fails over from a node that turns out to be on the wrong chain', async () => {
    let state: NodeState = 'healthy';
    const stateOf = (name: string): NodeState => (name === 'node-1' ? state : 'healthy');
    const { feed, mocks } = await set([healthy, healthy], { stateOf });
    await feed.open(vote, new Recorder());
    expect(mocks[0]!.count('voteSubscribe')).toBe(1);
    state = 'wrong-chain';
    await until(() => mocks[1]!.count('voteSubscribe') === 1, 'another is used');
  });
});
