import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { createFeed } from '../../../src/upstream/feeds/feeds.ts';
import { geyserKinds } from '../../../src/upstream/feeds/geyser/subscribe-union.ts';
import { GeyserRig, Heard } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { slotIs } from './geyser-told.ts';
import { obliging } from './mock/obliging.ts';
import { PubsubMock } from './mock/pubsub-server.ts';
import { testLimits, until } from './stage.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A chain in which every slot has a block, as nodes tell it. */
function answer(params: Buffer | null): string {
  const [first, last] = JSON.parse(params?.toString() ?? '[]') as number[];
  if (typeof first !== 'number' || typeof last !== 'number') return '90';
  return JSON.stringify(Array.from({ length: last - first + 1 }, (_, at) => first + at));
}

/** A feed that prefers Geyser, with PubSub of a node that is some slots further. */
async function start(pubsubSlot: number) {
  const server = await GeyserServer.start();
  const rig = new GeyserRig([server.url], { downMaxMs: 50 });
  const mock = await PubsubMock.start(obliging, pubsubSlot);
  const log: string[] = [];
  const feed = createFeed({
    network: 'devnet',
    pool: {
      ask: ({ params }) => Promise.resolve({ body: Buffer.from(answer(params)), errorCode: 0 }),
      status: () => [],
    },
    nodes: [{ name: 'node-1', url: 'http://127.0.0.1:1', ws: mock.url }],
    preferred: {
      serves: (kind) => geyserKinds.has(kind),
      open: (subscription, listener) => rig.feed.open(subscription, listener),
      position: () => rig.feed.position(),
      close: () => rig.feed.stop(),
    },
    limits: testLimits,
    log: createLogger('debug', (line) => log.push(line)),
  });
  ends.push(
    () => feed.close(),
    () => server.stop(),
    () => mock.close(),
  );
  return { feed, server, mock, log };
}

describe('a subscription that Geyser feeds', () => {
  it('goes on from PubSub when Geyser is gone: what came in between is told once, in order', async () => {
    const { feed, server, mock, log } = await start(105);
    const heard = new Heard();
    await feed.open({ kind: 'slot' }, heard.listener);
    expect(mock.peers.size).toBe(0);
    for (const slot of [100, 101]) {
      server.tell(slotIs(slot, 'created'));
      server.tell(slotIs(slot, 'processed'));
    }
    await heard.count(2);
    server.stop();
    await until(() => mock.peers.size > 0 && mock.count('slotSubscribe') > 0, 'PubSub is asked');
    mock.tick();
    await heard.count(7);
    expect(heard.results.map(({ slot }) => slot)).toEqual([100, 101, 102, 103, 104, 105, 106]);
    expect(heard.failure).toBeNull();
    expect(log.join()).toContain('PubSub takes a subscription over from Geyser');
  });

  it('is told nothing more when it ended before, and nobody else is asked', async () => {
    const { feed, server, mock } = await start(105);
    const [ended, other] = [new Heard(), new Heard()];
    const end = await feed.open({ kind: 'slot' }, ended.listener);
    await feed.open({ kind: 'root' }, other.listener);
    server.tell(slotIs(100, 'processed'));
    await ended.count(1);
    end();
    server.stop();
    await until(() => mock.count('rootSubscribe') > 0, 'PubSub is asked');
    mock.tick();
    expect(mock.received.filter(({ method }) => method === 'rootSubscribe')).toHaveLength(1);
    expect(ended.results).toHaveLength(1);
    expect([ended.failure, other.failure]).toEqual([null, null]);
  });

  it('is opened on PubSub at once while Geyser is away', async () => {
    const { feed, server, mock } = await start(105);
    const first = new Heard();
    await feed.open({ kind: 'slot' }, first.listener);
    server.tell(slotIs(100, 'processed'));
    await first.count(1);
    server.stop();
    await until(() => mock.count('slotSubscribe') > 0, 'PubSub is asked');
    const streams = server.streams.length;
    const second = new Heard();
    await feed.open({ kind: 'root' }, second.listener);
    expect(mock.count('rootSubscribe')).toBe(1);
    expect(server.streams).toHaveLength(streams);
  });
});
