import type { Logger } from '../../base/log.ts';
import type { Feed } from '../../streams/feed.ts';
import type { GeyserListener, GeyserSource } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { NodeConfig } from '../node.ts';
import type { ObservedSlot } from '../slots/slot-tracker.ts';
import { type GeyserNode, hasGeyser } from './geyser-node.ts';
import { type GeyserSourceOptions, geyserSourceOptions } from './geyser-source-options.ts';
import { PubsubFallback } from './pubsub-fallback.ts';
import { YellowstoneSource } from './yellowstone-source.ts';

type CreateGeyserSourceOptions = Readonly<{
  /** The network's nodes. Without any Geyser server, PubSub and blocks are used. */
  nodes: readonly NodeConfig[];
  reader: Pick<ChainReader, 'availableSlots' | 'slots' | 'eachBlock'>;
  /** Slots, roots and accounts for the PubSub fallback. */
  feed: Feed;
  /** The newest slot according to polled nodes; null while unknown. */
  head?: () => ObservedSlot | null;
  options?: Partial<GeyserSourceOptions>;
  log: Logger;
}>;

export type ClosableGeyserSource = GeyserSource &
  Readonly<{
    /** Ends everything at once, without notifying the listener. */
    close(): void;
    /** False while the PubSub fallback is active. `setNodes` may change it. */
    isGeyser: boolean;
    /**
     * Replaces the nodes. Switching between Geyser and the PubSub fallback resets the listener and ends all
     * filter sets.
     */
    setNodes(nodes: readonly NodeConfig[]): void;
  }>;

/** Creates the Geyser source of a network: its nodes' Geyser servers, or the PubSub fallback. */
export function createGeyserSource(
  { nodes, reader, feed, head = () => null, options, log }: CreateGeyserSourceOptions,
  listener: GeyserListener,
): ClosableGeyserSource {
  const limits = { ...geyserSourceOptions, ...options };
  const open = (servers: readonly GeyserNode[]): YellowstoneSource | PubsubFallback =>
    servers.length > 0
      ? new YellowstoneSource({ nodes: servers, reader, head, options: limits, log }, listener)
      : new PubsubFallback({ feed, reader, listener, limits, log });
  let source = open(nodes.filter(hasGeyser));
  let isClosed = false;
  return {
    subscribe: (request, fromSlot, previous) => source.subscribe(request, fromSlot, previous),
    close() {
      isClosed = true;
      source.close();
    },
    get isGeyser() {
      return source instanceof YellowstoneSource;
    },
    setNodes(now) {
      const servers = now.filter(hasGeyser);
      const isGeyser = servers.length > 0;
      if (isClosed || (!isGeyser && source instanceof PubsubFallback)) return;
      if (isGeyser && source instanceof YellowstoneSource) {
        source.setNodes(servers);
        return;
      }
      source.close();
      source = open(servers);
      log.warn(isGeyser ? GEYSER_AVAILABLE : GEYSER_LOST);
      listener.onReset('source');
    },
  };
}

const GEYSER_LOST = 'No node has Geyser; gRPC streams ended; falling back to PubSub and blocks';
const GEYSER_AVAILABLE = 'Geyser available; gRPC streams ended; switching from PubSub and blocks to Geyser';
