import type { Logger } from '../../base/log.ts';
import type { Feed } from '../../streams/feed.ts';
import type { GeyserListener, GeyserSource } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import { hasGeyser } from '../feeds/geyser/geyser-link.ts';
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
    /**
     * Listens to these nodes from now on.
     * @returns whether it can follow: what stands in for Geyser gives way to it only at the start, and the other way round.
     */
    setNodes(nodes: readonly NodeConfig[]): boolean;
  }>;

/** Tells the updates of a network to one listener, from its nodes' Geyser servers or what comes nearest to them. */
export function createGeyserSource(
  { nodes, reader, feed, options, log }: CreateGeyserSourceOptions,
  listener: GeyserListener,
): ClosableGeyserSource {
  const limits = { ...geyserSourceOptions, ...options };
  const servers = nodes.filter(hasGeyser);
  const geyser =
    servers.length > 0
      ? new UpstreamGeyser({ nodes: servers, reader, options: limits, log }, listener)
      : null;
  const source = geyser ?? new PubsubSource({ feed, reader, listener, limits, log });
  return {
    want: (request, fromSlot) => source.want(request, fromSlot),
    close: () => source.close(),
    isGeyser: geyser !== null,
    setNodes(now) {
      const left = now.filter(hasGeyser);
      if (geyser === null) return left.length === 0;
      geyser.setNodes(left);
      return left.length > 0;
    },
  };
}
