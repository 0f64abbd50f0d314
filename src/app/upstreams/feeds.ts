import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { ChainReader } from '../../upstream/feeds/chain-reader.ts';
import { createFeed, type NetworkFeed, type PreferredFeed } from '../../upstream/feeds/feeds.ts';
import type { GeyserLimits } from '../../upstream/feeds/geyser/geyser-connection.ts';
import { GeyserFeed } from '../../upstream/feeds/geyser/geyser-feed.ts';
import type { FeedLimits } from '../../upstream/feeds/limits.ts';
import { hasGeyser } from '../../upstream/geyser/geyser-node.ts';
import type { NodeConfig } from '../../upstream/node.ts';
import type { UpstreamPool } from '../../upstream/pool.ts';

/** What the feeds of one network stand on. */
type FeedOptions = Readonly<{
  configuration: Configuration;
  /** Those of the default network. */
  nodes: readonly NodeConfig[];
  pool: UpstreamPool;
  log: Logger;
}>;

/** The nodes' Geyser; null where none of them has it. */
function geyserFeed({ configuration, nodes, log }: FeedOptions, reader: ChainReader): PreferredFeed | null {
  const servers = nodes.filter(hasGeyser);
  if (servers.length === 0) return null;
  const limits: GeyserLimits = configuration.geyser;
  return new GeyserFeed({ nodes: servers, limits, log, reader });
}

/** Opens the feed of the default network: Geyser where a node has it, else PubSub and blocks. */
export function openFeed(options: FeedOptions): NetworkFeed {
  const { configuration, nodes, pool, log } = options;
  const limits: FeedLimits = configuration.feeds;
  const network = configuration.networks.default;
  const preferred = (reader: ChainReader): PreferredFeed | null => geyserFeed(options, reader);
  return createFeed({ network, pool, nodes, preferred, limits, log });
}
