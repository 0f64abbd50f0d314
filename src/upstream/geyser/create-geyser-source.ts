import type { Logger } from '../../base/log.ts';
import type { Feed } from '../../streams/feed.ts';
import type { GeyserListener, GeyserSource } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { NodeConfig } from '../node.ts';
import { hasGeyser } from './geyser-node.ts';
import { type GeyserSourceOptions, geyserSourceOptions } from './geyser-source-options.ts';
import { PubsubFallback } from './pubsub-fallback.ts';
import type { YellowstoneSource } from './yellowstone-source.ts';

type CreateGeyserSourceOptions = Readonly<{
  /** Without servers, PubSub and blocks are used. */
  yellowstone: YellowstoneSource;
  reader: Pick<ChainReader, 'availableSlots' | 'slots' | 'eachBlock'>;
  /** Slots, roots and accounts for the PubSub fallback. */
  feed: Feed;
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

/** Creates the source of gRPC streams: the network's Geyser servers, or the PubSub fallback. */
export function createGeyserSource(
  { yellowstone, reader, feed, options, log }: CreateGeyserSourceOptions,
  listener: GeyserListener,
): ClosableGeyserSource {
  const limits = { ...geyserSourceOptions, ...options };
  const openFallback = (): PubsubFallback | null =>
    yellowstone.hasServers ? null : new PubsubFallback({ feed, reader, listener, limits, log });
  yellowstone.addListener(listener);
  yellowstone.start();
  let fallback = openFallback();
  let isClosed = false;
  return {
    subscribe: (request, fromSlot, previous) =>
      fallback === null
        ? yellowstone.subscribe(request, fromSlot)
        : fallback.subscribe(request, fromSlot, previous),
    close() {
      isClosed = true;
      fallback?.close();
      yellowstone.close();
    },
    get isGeyser() {
      return fallback === null;
    },
    setNodes(nodes) {
      if (isClosed) return;
      const servers = nodes.filter(hasGeyser);
      const wasGeyser = fallback === null;
      if (servers.length > 0) fallback?.close();
      yellowstone.setNodes(servers);
      if (yellowstone.hasServers === wasGeyser) return;
      fallback = openFallback();
      log.warn(wasGeyser ? GEYSER_LOST : GEYSER_AVAILABLE);
    },
  };
}

const GEYSER_LOST = 'No node has Geyser; gRPC streams ended; falling back to PubSub and blocks';
const GEYSER_AVAILABLE = 'Geyser available; gRPC streams ended; switching from PubSub and blocks to Geyser';
