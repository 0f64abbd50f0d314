import type { LocalNodeOptions } from '../../../packages/localnet/src/genesis/open.ts';
import { startLocalnetServer } from '../../../packages/localnet/src/http/server.ts';
import { startPubsubServer } from '../../../packages/localnet/src/pubsub/server.ts';
import { Lab } from '../../../packages/localnet/test/ledger/lab.ts';
import { createLogger } from '../../../src/base/log.ts';
import { createFeed, type NetworkFeed } from '../../../src/upstream/feeds/feeds.ts';
import type { NodeConfig } from '../../../src/upstream/node.ts';
import { createUpstreamPool, type UpstreamPool } from '../../../src/upstream/pool.ts';
import { testLimits } from './stage.ts';

type LedgerSceneOptions = Readonly<{
  upstreams: number;
  ledger: Partial<LocalNodeOptions>;
}>;

/** A real embedded ledger as one or several nodes, with a pool and a feed over them. */
export class LedgerScene {
  readonly lab: Lab;
  readonly pool: UpstreamPool;
  readonly feed: NetworkFeed;
  readonly #closers: (() => Promise<unknown> | unknown)[];

  private constructor(
    parts: Pick<LedgerScene, 'lab' | 'pool' | 'feed'>,
    closers: (() => Promise<unknown> | unknown)[],
  ) {
    this.lab = parts.lab;
    this.pool = parts.pool;
    this.feed = parts.feed;
    this.#closers = closers;
  }

  static async open({ upstreams, ledger }: LedgerSceneOptions): Promise<LedgerScene> {
    const log = createLogger('silent', () => {});
    const lab = await Lab.open({ slotMs: 60, ...ledger });
    const rpc = await startLocalnetServer(lab.node, { port: 0, log });
    const pubsub = await startPubsubServer(lab.node, { port: 0, log });
    const nodes: NodeConfig[] = Array.from({ length: upstreams }, (_, index) => ({
      name: `node-${index + 1}`,
      url: `http://127.0.0.1:${rpc.port}/`,
      ws: `ws://127.0.0.1:${pubsub.port}/`,
    }));
    const pool = createUpstreamPool({
      nodes: { devnet: nodes },
      limits: { pollIntervalMs: 100, pollTimeoutMs: 300, attemptTimeoutMs: 400, circuitOpenMs: 200 },
      log,
    });
    pool.start();
    const feed = createFeed({ network: 'devnet', pool, nodes, limits: testLimits, log });
    return new LedgerScene({ lab, pool, feed }, [
      () => feed.close(),
      () => pool.stop(),
      () => pubsub.close(),
      () => rpc.close(),
      () => lab.close(),
    ]);
  }

  async close(): Promise<void> {
    for (const close of this.#closers) await close();
  }
}
