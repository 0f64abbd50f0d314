import type { Logger } from '../../base/log.ts';
import type { Feed } from '../../streams/feed.ts';
import type { GeyserListener, GeyserSource } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { GeyserNode } from '../feeds/geyser/geyser-link.ts';
import type { NodeConfig } from '../node.ts';
import { type GeyserSourceOptions, geyserSourceOptions } from './geyser-source-options.ts';
import { PubsubSource } from './pubsub-source.ts';
import { UpstreamGeyser } from './upstream-geyser.ts';

export type CreateGeyserSourceOptions = Readonly<{
  /** The network's nodes. All that have Geyser are listened to; where none has, PubSub and blocks stand in. */
  nodes: readonly NodeConfig[];
  /** Reads blocks through the pool. */
  reader: Pick<ChainReader, 'known' | 'slots' | 'eachBlock'>;
  /** Tells slots, roots and accounts where no node has Geyser. */
  feed: Feed;
  options?: Partial<GeyserSourceOptions>;
  log: Logger;
}>;

/** A source that can be ended. */
export type ClosableGeyserSource = GeyserSource &
  Readonly<{
    /** Ends everything at once; the listener hears nothing more. */
    close(): void;
    /** Whether it tells what Geyser servers do, and not what stands in for it. */
    isGeyser: boolean;
  }>;

const hasGeyser = (node: NodeConfig): node is GeyserNode => typeof node.grpc === 'string';

/** Tells the updates of a network to one listener, from its nodes' Geyser servers or what comes nearest to them. */
export function createGeyserSource(
  { nodes, reader, feed, options, log }: CreateGeyserSourceOptions,
  listener: GeyserListener,
): ClosableGeyserSource {
  const limits = { ...geyserSourceOptions, ...options };
  const servers = nodes.filter(hasGeyser);
  const source =
    servers.length > 0
      ? new UpstreamGeyser({ nodes: servers, reader, options: limits, log }, listener)
      : new PubsubSource({ feed, reader, listener, limits, log });
  return {
    want: (request, fromSlot) => source.want(request, fromSlot),
    close: () => source.close(),
    isGeyser: servers.length > 0,
  };
}
