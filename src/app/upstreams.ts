import type { AddressInfo } from 'node:net';
import type { Logger } from '../base/log.ts';
import type { DirectSource, Network } from '../protocol/call.ts';
import type { Feed } from '../streams/feed.ts';
import type { NodeConfig } from '../upstream/node.ts';
import { createUpstreamPool, type UpstreamPool } from '../upstream/pool.ts';
import type { Configuration } from './configuration.ts';
import { ledgerFolder } from './data-dir.ts';
import { openFeed } from './feeds.ts';
import { type LocalnetPorts, LocalnetProcess } from './localnet-process.ts';
import { stopEach } from './stop-each.ts';

/** Name of the embedded ledger among the nodes. */
export const LOCALNET_NODE = 'embedded-ledger';

/** Everybody who answers calls: the configured nodes, and the embedded ledger when it is wanted. */
export type Upstreams = Readonly<{
  pool: UpstreamPool;
  /** What calls of customers are asked of: the pool, and what stands in front of it. */
  source: DirectSource;
  /** Subscriptions of the default network. */
  feed: Feed;
  /** Those of the default network that gRPC streams are fed from; with the embedded ledger's Geyser. */
  nodes: readonly NodeConfig[];
  stop(): Promise<void>;
}>;

/** How this very program is started again, ending before the sub-command. */
export type Program = readonly [string, ...string[]];

const READY_TIMEOUT_MS = 60_000;

/** Whether the embedded ledger is wanted: by itself when there is no other node. */
export const wantsLocalnet = ({ localnet, upstreams }: Configuration): boolean =>
  localnet.enabled === 'auto' ? upstreams.length === 0 : localnet.enabled;

function localnetProcess(
  { localnet, dataDir }: Configuration,
  program: Program,
  shredsTo: AddressInfo | null,
  log: Logger,
): LocalnetProcess {
  return new LocalnetProcess({
    program,
    ledgerDir: ledgerFolder(dataDir),
    rpcPort: localnet.rpcPort,
    slotMs: localnet.slotMs,
    slotsPerEpoch: localnet.slotsPerEpoch,
    faucetSol: localnet.faucetSol,
    historySlotsMax: localnet.historySlotsMax,
    shredsTo: shredsTo === null ? null : reachable(shredsTo),
    readyTimeoutMs: READY_TIMEOUT_MS,
    restartDelayMinMs: 100,
    restartDelayMaxMs: 5_000,
    healthyAfterMs: 60_000,
    stopTimeoutMs: 10_000,
    log,
  });
}

/** The address that a socket is reached at on this machine, as `host:port`. */
function reachable({ address, port, family }: AddressInfo): string {
  if (address === '0.0.0.0') return `127.0.0.1:${port}`;
  if (address === '::') return `[::1]:${port}`;
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Whether a node has PubSub, or Geyser, as its configuration says. */
export const feedsSubscriptions = ({ ws, grpc }: Pick<NodeConfig, 'ws' | 'grpc'>): boolean =>
  typeof ws === 'string' || typeof grpc === 'string';

/** Its Geyser is for gRPC streams alone: subscriptions over WebSocket stay on its PubSub. */
const localnetNode = (
  { networks }: Configuration,
  { rpcPort, pubsubPort }: LocalnetPorts,
): NodeConfig & { network: Network } => ({
  network: networks.default,
  name: LOCALNET_NODE,
  url: `http://127.0.0.1:${rpcPort}`,
  ws: `ws://127.0.0.1:${pubsubPort}`,
});

function byNetwork(
  nodes: readonly (NodeConfig & { network: Network })[],
): Partial<Record<Network, NodeConfig[]>> {
  const groups: Partial<Record<Network, NodeConfig[]>> = {};
  for (const node of nodes) groups[node.network] = [...(groups[node.network] ?? []), node];
  return groups;
}

/** The same nodes, the embedded ledger with its Geyser. */
const withLedgerGeyser = (nodes: readonly NodeConfig[], grpcPort: number | null): readonly NodeConfig[] =>
  grpcPort === null
    ? nodes
    : nodes.map((node) =>
        node.name === LOCALNET_NODE ? { ...node, grpc: `http://127.0.0.1:${grpcPort}` } : node,
      );

/**
 * Starts the embedded ledger when it is wanted, and watches all nodes.
 * @param shredsTo - where it sends its shreds; null for nowhere.
 * @throws EmbeddedLedgerError
 */
export async function openUpstreams(
  configuration: Configuration,
  program: Program,
  shredsTo: AddressInfo | null,
  log: Logger,
): Promise<Upstreams> {
  const localnet = wantsLocalnet(configuration)
    ? localnetProcess(configuration, program, shredsTo, log)
    : null;
  const ports = localnet === null ? null : await localnet.start();
  const ledger = ports === null ? [] : [localnetNode(configuration, ports)];
  const nodes = byNetwork([...configuration.upstreams, ...ledger]);
  const pool = createUpstreamPool({ nodes, limits: configuration.upstreamPool, log });
  pool.start();
  const { default: network } = configuration.networks;
  const own = nodes[network] ?? [];
  if (!own.some(feedsSubscriptions)) {
    log.warn({ network }, 'no node has PubSub or Geyser: subscriptions are refused; run solway doctor');
  }
  const feed = openFeed({ configuration, nodes: own, pool, log });
  const stop = () =>
    stopEach([async () => feed.close(), async () => pool.stop(), async () => localnet?.stop()]);
  const source: DirectSource = pool;
  return { pool, source, feed, nodes: withLedgerGeyser(own, ports?.grpcPort ?? null), stop };
}
