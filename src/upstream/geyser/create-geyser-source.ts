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
  /** The network's nodes. All that have Geyser are listened to; where none has, PubSub and blocks stand in. */
  nodes: readonly NodeConfig[];
  /** Reads blocks through the pool. */
  reader: Pick<ChainReader, 'availableSlots' | 'slots' | 'eachBlock'>;
  /** Tells slots, roots and accounts where no node has Geyser. */
  feed: Feed;
  /** The newest slot as the nodes that are polled tell it; null while none does. */
  head?: () => ObservedSlot | null;
  options?: Partial<GeyserSourceOptions>;
  log: Logger;
}>;

/** A source that can be ended. */
export type ClosableGeyserSource = GeyserSource &
  Readonly<{
    /** Ends everything at once; the listener hears nothing more. */
    close(): void;
    /** Whether it tells what Geyser servers do, and not what stands in for it; `setNodes` may change it. */
    isGeyser: boolean;
    /**
     * Listens to these nodes from now on. Where the last Geyser server goes, PubSub and blocks take its place, and
     * where a first one comes, it takes theirs: the listener hears that all starts over, and all wishes are over.
     */
    setNodes(nodes: readonly NodeConfig[]): void;
  }>;

/** Tells the updates of a network to one listener, from its nodes' Geyser servers or what comes nearest to them. */
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

const GEYSER_LOST =
  'no node with Geyser is left: gRPC streams were ended, and go on from PubSub and blocks, which tell less';
const GEYSER_AVAILABLE =
  'a node with Geyser is there: gRPC streams were ended, and go on from it in place of PubSub and blocks';
