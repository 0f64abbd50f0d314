import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { ShredPriorityQueue } from '../../streams/deshred/shred-priority-queue.ts';
import type { StreamOpener } from '../../streams/geyser/geyser-handler.ts';
import { GeyserHub } from '../../streams/geyser/geyser-hub.ts';
import type { GeyserHubOptions } from '../../streams/geyser/geyser-hub-options.ts';
import type { FilterSet, GeyserListener } from '../../streams/geyser/geyser-source.ts';
import {
  type CreateGeyserSourceOptions,
  createGeyserSource,
} from '../../upstream/geyser/create-geyser-source.ts';
import type { GeyserSourceOptions } from '../../upstream/geyser/geyser-source-options.ts';
import type { NodeConfig } from '../../upstream/node.ts';
import type { ActiveNodes } from './active-nodes.ts';
import { geyserVersion } from './geyser-version.ts';
import type { Shreds } from './shreds.ts';

function hubOptions({ replay }: Configuration): GeyserHubOptions {
  const { slots: replaySlots, maxBytes: replayMaxBytes, ...limits } = replay;
  return { ...limits, replaySlots, replayMaxBytes, version: geyserVersion() };
}

const FIRST_SLOT_POLL_MS = 20;

/** Passes updates to the hub and, if there is one, to the shred stage, which needs lookup table writes and slots. */
const listenerOf = (hub: GeyserHub, shreds: Shreds | null): GeyserListener => {
  if (shreds === null) return hub;
  const { stage } = shreds;
  const both: GeyserListener = {
    onUpdate(update) {
      hub.onUpdate(update);
      stage.onUpdate(update);
    },
    onLost: (...what) => hub.onLost(...what),
    onReset: (reason) => hub.onReset(reason),
  };
  return new ShredPriorityQueue(both, { accepted: () => stage.accepted });
};

/** Nodes of the default network, and the components that read from them. */
type StreamingNodes = Pick<CreateGeyserSourceOptions, 'yellowstone' | 'reader' | 'feed'> &
  Readonly<{
    activeNodes: Pick<ActiveNodes, 'follow'>;
    /** Adds the Geyser server of the embedded ledger. */
    streaming(nodes: readonly NodeConfig[]): readonly NodeConfig[];
    sourceOptions: GeyserSourceOptions;
  }>;

/** Opens the sources for gRPC streams on the default network. */
export function openStreams(
  configuration: Configuration,
  { activeNodes, streaming, feed, reader, yellowstone, sourceOptions: options }: StreamingNodes,
  shreds: Shreds | null,
  log: Logger,
) {
  const hub = new GeyserHub(hubOptions(configuration));
  const source = createGeyserSource({ yellowstone, reader, feed, options, log }, listenerOf(hub, shreds));
  hub.setSource(source);
  // Subscribes only with Geyser: the PubSub fallback would read every block.
  const subscribeStandard = (): FilterSet | null =>
    source.isGeyser && shreds?.standardFilters ? source.subscribe(shreds.standardFilters, null) : null;
  let subscription = subscribeStandard();
  activeNodes.follow((now) => {
    const wasGeyser = source.isGeyser;
    source.setNodes(streaming(now));
    if (source.isGeyser !== wasGeyser) subscription = subscribeStandard();
  });
  /** Must be called after all streams have ended. */
  const stop = (): void => {
    subscription?.end();
    source.close();
  };
  /** Waits briefly for the first slot. Without Geyser, none comes before a client subscribes. */
  const waitForFirstSlot = async (timeoutMs: number): Promise<void> => {
    const endsAt = performance.now() + timeoutMs;
    while (source.isGeyser && !hub.hasSlot && performance.now() < endsAt) await sleep(FIRST_SLOT_POLL_MS);
  };
  const shred: StreamOpener | null = shreds?.hub ?? null;
  const standard: StreamOpener = hub;
  return { standard, shred, waitForFirstSlot, stop };
}
