import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { LocalnetPorts } from '../localnet/localnet-process.ts';
import type { StopFunctions } from '../process/stop-each.ts';
import type { PreparedStore } from '../store.ts';
import type { ActiveNodes } from '../upstreams/active-nodes.ts';
import { openAddedNodes } from '../upstreams/added-nodes.ts';
import type { Shreds } from '../upstreams/shreds.ts';
import { openStreams } from '../upstreams/streams.ts';
import { openUpstreams } from '../upstreams/upstreams.ts';
import { type RelayAddress, startShredRelay } from './shred-relay.ts';

type RelayedShredStage = Readonly<{ address: RelayAddress; activeNodes: ActiveNodes }>;

/** The primary serves no gRPC streams to clients, so it needs no replay and only `union` demand. */
const withoutReplay = (configuration: Configuration): Configuration => ({
  ...configuration,
  replay: { ...configuration.replay, slots: 0 },
  geyserSource: { ...configuration.geyserSource, demand: 'union' },
});

/** Connects the shred stage to the nodes and relays its output to the workers. */
export async function relayShredStage(
  configuration: Configuration,
  shreds: Shreds,
  ledger: LocalnetPorts | null,
  { store, peppers }: PreparedStore,
  log: Logger,
  stops: StopFunctions,
): Promise<RelayedShredStage> {
  const added = await openAddedNodes(configuration, { store, peppers }, log);
  stops.push(added.stop);
  const upstreams = openUpstreams(configuration, ledger, log, added.nodes);
  stops.push(upstreams.stop);
  shreds.setDispatcher(upstreams.pool);
  const streams = openStreams(withoutReplay(configuration), upstreams, shreds, log);
  stops.push(async () => streams.stop());
  added.follow(upstreams.activeNodes);
  const relay = await startShredRelay(shreds.hub, log);
  stops.push(relay.stop);
  return { address: relay.address, activeNodes: upstreams.activeNodes };
}
