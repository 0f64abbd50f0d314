import type { Logger } from '../../base/log.ts';
import type { PreparedStore } from '../access.ts';
import { openAddedNodes } from '../added-nodes.ts';
import type { Configuration } from '../configuration.ts';
import type { LocalnetPorts } from '../localnet-process.ts';
import type { NodesInForce } from '../nodes-in-force.ts';
import type { Shreds } from '../shreds.ts';
import { openStreams } from '../streams.ts';
import { openUpstreams } from '../upstreams.ts';
import { openShredRelay, type RelayPlace } from './shred-relay.ts';

/** The shred stage in the primary, which tells it to the workers. */
export type ToldStage = Readonly<{ place: RelayPlace; inForce: NodesInForce }>;

/** Nobody begins a stream here, in the past or at all. */
const withoutReplay = (configuration: Configuration): Configuration => ({
  ...configuration,
  replay: { ...configuration.replay, slots: 0 },
  geyserSource: { ...configuration.geyserSource, demand: 'union' },
});

/**
 * Gives the shred stage what it stands on, the nodes and their standard stage, and tells it to the workers.
 * @param stops - gets what ends them.
 */
export async function tellStage(
  configuration: Configuration,
  shreds: Shreds,
  ledger: LocalnetPorts | null,
  { store, peppers }: PreparedStore,
  log: Logger,
  stops: (() => Promise<unknown>)[],
): Promise<ToldStage> {
  const added = await openAddedNodes(store, peppers, log);
  stops.push(added.stop);
  const upstreams = openUpstreams(configuration, ledger, log, added.nodes);
  stops.push(upstreams.stop);
  shreds.askFrom(upstreams.pool);
  const streams = openStreams(withoutReplay(configuration), upstreams, shreds, log);
  stops.push(async () => streams.stop());
  added.follow(upstreams.inForce);
  const relay = await openShredRelay(shreds.hub, log);
  stops.push(relay.stop);
  return { place: relay.place, inForce: upstreams.inForce };
}
