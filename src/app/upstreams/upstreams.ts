import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { AddedNode } from '../../control/nodes/added-nodes.ts';
import { ChainReader } from '../../upstream/feeds/chain-reader.ts';
import { createFeed } from '../../upstream/feeds/feeds.ts';
import { GeyserFeed } from '../../upstream/feeds/geyser/geyser-feed.ts';
import { genesisHashesWith } from '../../upstream/genesis-hash.ts';
import { hasGeyser } from '../../upstream/geyser/geyser-node.ts';
import type { GeyserSourceOptions } from '../../upstream/geyser/geyser-source-options.ts';
import { YellowstoneSource } from '../../upstream/geyser/yellowstone-source.ts';
import { hasSubscriptionFeed, type NodeConfig } from '../../upstream/node.ts';
import { createUpstreamPool } from '../../upstream/pool.ts';
import type { LocalnetPorts } from '../localnet/localnet-process.ts';
import { stopEach } from '../process/stop-each.ts';
import { ActiveNodes, type NetworkNode } from './active-nodes.ts';
import { openTransactionSubmitter, openUpstreamMiddleware } from './upstream-middleware.ts';

const LOCALNET_NODE = 'embedded-ledger';

/** Node for the embedded ledger. WebSocket subscriptions use its PubSub; only gRPC streams need its Geyser URL. */
const localnetNode = ({ networks }: Configuration, { rpcPort, pubsubPort }: LocalnetPorts): NetworkNode => ({
  network: networks.default,
  name: LOCALNET_NODE,
  url: `http://127.0.0.1:${rpcPort}`,
  ws: `ws://127.0.0.1:${pubsubPort}`,
});

const withLedgerGeyser = (nodes: readonly NodeConfig[], geyserPort: number | null): readonly NodeConfig[] =>
  geyserPort === null
    ? nodes
    : nodes.map((node) =>
        node.name === LOCALNET_NODE ? { ...node, grpc: `http://127.0.0.1:${geyserPort}` } : node,
      );

/** In development mode, requests all updates from the embedded ledger, so that from_slot can replay them. */
const sourceOptionsOf = ({ geyserSource }: Configuration, isDevelopment: boolean): GeyserSourceOptions =>
  isDevelopment ? { ...geyserSource, demand: 'full' } : geyserSource;

/** @param ports - ports of the embedded ledger; null outside development mode. */
export function openUpstreams(
  configuration: Configuration,
  ports: LocalnetPorts | null,
  log: Logger,
  added: readonly AddedNode[] = [],
) {
  const { networks } = configuration;
  const { default: network, custom } = networks;
  const ledger = ports === null ? null : localnetNode(configuration, ports);
  const activeNodes = new ActiveNodes({
    fileNodes: configuration.upstreams,
    ledgerNode: ledger,
    addedNodes: added,
    networks,
    region: configuration.server.region,
    log,
  });
  const limits = configuration.upstreamPool;
  const genesisHashes = genesisHashesWith(custom);
  const pool = createUpstreamPool({ nodes: activeNodes.byNetwork, limits, genesisHashes, log });
  activeNodes.setPool(pool, limits);
  pool.start();
  const own = activeNodes.feedingNodes;
  if (!own.some(hasSubscriptionFeed)) {
    log.warn({ network }, 'Subscriptions are rejected: no node has PubSub or Geyser; run solway doctor');
  }
  const isDevelopment = ledger !== null;
  /** Nodes for gRPC streams, which also use the Geyser server of the embedded ledger. */
  const streaming = (nodes: readonly NodeConfig[]) => withLedgerGeyser(nodes, ports?.geyserPort ?? null);
  const { feeds, geyser } = configuration;
  const sourceOptions = sourceOptionsOf(configuration, isDevelopment);
  const reader = new ChainReader({ network, pool, limits: feeds, log });
  const yellowstone = new YellowstoneSource({
    ...{ nodes: streaming(own).filter(hasGeyser), reader, log },
    head: () => pool.slotAt(network, 'processed'),
    options: sourceOptions,
  });
  const preferred = isDevelopment
    ? null
    : new GeyserFeed({ source: yellowstone, limits: geyser, log, reader });
  const feed = createFeed({ network, pool, nodes: own, preferred, reader, limits: feeds, log });
  activeNodes.follow((nodes) => {
    yellowstone.setNodes(streaming(nodes).filter(hasGeyser));
    feed.setNodes(nodes);
  });
  const sending = openTransactionSubmitter(configuration, pool, log);
  const parts = { configuration, submitter: sending, pool };
  const middleware = openUpstreamMiddleware({ ...parts, isLocalnetOnly: isDevelopment, log });
  const stop = () =>
    stopEach([
      async () => feed.close(),
      async () => yellowstone.close(),
      async () => middleware.stop(),
      () => sending.close(),
      async () => pool.stop(),
    ]);
  const { source } = middleware;
  const chain = { reader, yellowstone, sourceOptions, feed, streaming };
  return { pool, source, middleware, sending, ...chain, isDevelopment, activeNodes, stop };
}

/** `source` is the entry point for calls. `reader`, `yellowstone` and `feed` belong to the default network. */
export type Upstreams = ReturnType<typeof openUpstreams>;
