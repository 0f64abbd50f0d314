import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { createFeed, type NetworkFeed } from '../../../src/upstream/feeds/feeds.ts';
import type { FeedLimits } from '../../../src/upstream/feeds/limits.ts';
import { dispatcherOf } from '../mock/dispatcher.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import { type PubsubBehaviour, PubsubMock } from './mock/pubsub-server.ts';
import { subscriptionOf, testLimits, until } from './stage.ts';

const vote = subscriptionOf('vote');
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function node(behaviour: PubsubBehaviour): Promise<PubsubMock> {
  const mock = await PubsubMock.start(behaviour);
  ends.push(() => mock.close());
  return mock;
}

/** A TCP server that accepts connections and stays silent, unless a script or a node handles them. */
class SilentServer {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  connections = 0;
  onConnection: (near: Socket) => void = () => {};

  private constructor() {
    this.#server = createServer((near) => {
      this.connections++;
      near.on('error', () => {});
      this.#sockets.push(near);
      this.onConnection(near);
    });
  }

  static async open(): Promise<SilentServer> {
    const silent = new SilentServer();
    silent.#server.listen(0, '127.0.0.1');
    await once(silent.#server, 'listening');
    ends.push(() => {
      for (const socket of silent.#sockets) socket.destroy();
      silent.#server.close();
    });
    return silent;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Proxies connections to a node. */
  proxyTo(to: PubsubMock): (near: Socket) => void {
    return (near) => {
      const far = connect(Number(new URL(to.url).port), '127.0.0.1');
      far.on('error', () => {});
      this.#sockets.push(far);
      near.pipe(far).pipe(near);
    };
  }

  /** Silently stops all traffic on the open connections. */
  freeze(): void {
    for (const socket of this.#sockets) socket.unpipe();
  }
}

function feedOf(
  urls: readonly string[],
  limits: Partial<FeedLimits> = {},
  lines: string[] = [],
): NetworkFeed {
  const feed = createFeed({
    network: 'devnet',
    pool: { ...dispatcherOf(() => Promise.reject(new Error('nobody answers'))), status: () => [] },
    nodes: urls.map((ws, index) => ({ name: `node-${index}`, url: 'http://127.0.0.1:1/', ws })),
    limits: { ...testLimits, ...limits },
    log: createLogger('debug', (line) => lines.push(line)),
  });
  ends.push(() => feed.close());
  return feed;
}

describe('opening a subscription', () => {
  it('fails with a long retry delay, and no call, when no node has a feed', async () => {
    for (const subscription of [vote, subscriptionOf('block', 'all')]) {
      await expect(feedOf([]).open(subscription, new Recorder())).rejects.toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
        facts: { network: 'devnet', feeds: 0 },
        retryAfter: 60,
      });
    }
  });

  it('waits for a node to recover, and reconnects', async () => {
    const silent = await SilentServer.open();
    const good = await node(healthy);
    const opened = feedOf([silent.url], { handshakeTimeoutMs: 200 }).open(vote, new Recorder());
    await until(() => silent.connections === 1, 'it is connected to');
    silent.onConnection = silent.proxyTo(good);
    await opened;
    expect(silent.connections).toBe(2);
  });

  it('detects a dead connection before its ping timeout', async () => {
    const silent = await SilentServer.open();
    const good = await node(healthy);
    silent.onConnection = silent.proxyTo(good);
    const feed = feedOf([silent.url], { pingIntervalMs: 60_000 });
    await feed.open(vote, new Recorder());
    silent.freeze();
    await feed.open(subscriptionOf('root'), new Recorder());
    expect(silent.connections).toBe(2);
    await until(() => good.count('voteSubscribe') === 2, 'what stood on it moves, too');
  });

  it.each([
    ['requires a key', 'HTTP/1.1 401 Unauthorized\r\n\r\n', 1],
    ['rejects everything for hours', 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 9999\r\n\r\n', 60],
    ['uses another protocol', 'SSH-2.0-x\r\n\r\n', 1],
  ])('fails at once when the only node %s', async (_, words, retryAfter) => {
    const silent = await SilentServer.open();
    silent.onConnection = (near) => near.end(words);
    const feed = feedOf([silent.url, silent.url], { openTimeoutMs: 60_000 });
    const refused = (): Promise<unknown> =>
      feed.open(vote, new Recorder()).then(
        () => 'opened',
        (fault: unknown) => fault,
      );
    expect(await refused()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryAfter });
    expect(silent.connections).toBe(2);
  });
});
