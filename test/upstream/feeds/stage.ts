import { createLogger } from '../../../src/base/log.ts';
import type { Call, RpcDispatcher } from '../../../src/protocol/call.ts';
import { parseSubscription } from '../../../src/protocol/pubsub/parse-subscription.ts';
import type { Subscription, SubscriptionKind } from '../../../src/protocol/subscriptions.ts';
import { slot } from '../../../src/solana/units.ts';
import { createFeed, type NetworkFeed } from '../../../src/upstream/feeds/feeds.ts';
import type { FeedLimits } from '../../../src/upstream/feeds/limits.ts';
import type { NodeState } from '../../../src/upstream/health/node-state.ts';
import type { NodeFeedStatus } from '../../../src/upstream/node-status.ts';
import { dispatcherOf } from '../mock/dispatcher.ts';
import { type PubsubBehaviour, PubsubMock } from './mock/pubsub-server.ts';

/** Short enough for tests, long enough for a loaded machine. */
export const testLimits: Partial<FeedLimits> = {
  handshakeTimeoutMs: 1_000,
  pingIntervalMs: 200,
  pongTimeoutMs: 1_000,
  ackTimeoutMs: 300,
  openTimeoutMs: 2_000,
  stallMs: 400,
  reconnectMs: 50,
  reconnectMaxMs: 200,
  gapTimeoutMs: 20_000,
};

export const subscriptionOf = (kind: SubscriptionKind, ...params: unknown[]): Subscription =>
  parseSubscription(kind, params as Parameters<typeof parseSubscription>[1]);

export type Scene = Readonly<{
  feed: NetworkFeed;
  mocks: readonly PubsubMock[];
  requests: readonly Call[];
  logged: readonly string[];
  networkSlot: (value: number) => void;
  close(): Promise<void>;
}>;

export type SceneOptions = Readonly<{
  limits?: Partial<FeedLimits>;
  /** Results of the pool, as JSON. */
  answer?: (method: string, params: readonly unknown[]) => unknown;
  /** State of a node; default: healthy. */
  stateOf?: (name: string) => NodeState;
  /** Appended to the address of each node. */
  secret?: string;
}>;

/** A feed on devnet over scripted PubSub nodes and a scripted pool. */
export async function stage(
  behaviours: readonly PubsubBehaviour[],
  options: SceneOptions = {},
): Promise<Scene> {
  const mocks = await Promise.all(behaviours.map((behaviour) => PubsubMock.start(behaviour)));
  const requests: Call[] = [];
  const logged: string[] = [];
  let tip = 1_000;
  const pool: RpcDispatcher & { status: () => readonly NodeFeedStatus[] } = {
    ...dispatcherOf(async (call) => {
      requests.push(call);
      const params = JSON.parse(call.params?.toString() ?? '[]') as unknown[];
      const answer = options.answer?.(call.method, params) ?? tip;
      return { body: Buffer.from(JSON.stringify(answer)), errorCode: 0 };
    }),
    status: () =>
      mocks.map((_, index) => ({
        name: `node-${index + 1}`,
        network: 'devnet',
        state: options.stateOf?.(`node-${index + 1}`) ?? 'healthy',
        slot: slot(tip),
        silentMs: 0,
      })),
  };
  const feed = createFeed({
    network: 'devnet',
    pool,
    nodes: mocks.map((mock, index) => ({
      name: `node-${index + 1}`,
      url: 'http://127.0.0.1:1/',
      ws: mock.url + (options.secret ?? ''),
    })),
    limits: { ...testLimits, ...options.limits },
    log: createLogger('debug', (line) => logged.push(line)),
  });
  return {
    feed,
    mocks,
    requests,
    logged,
    networkSlot: (value) => {
      tip = value;
    },
    close: async () => {
      feed.close();
      await Promise.all(mocks.map((mock) => mock.close()));
    },
  };
}

/** Waits until the condition holds. Fails after ten seconds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
