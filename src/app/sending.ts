import type { Logger } from '../base/log.ts';
import type { Network } from '../protocol/call.ts';
import { UpstreamNode } from '../upstream/node.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import { Senders } from '../upstream/send/senders.ts';
import { Sending } from '../upstream/send/sending.ts';
import type { Configuration } from './configuration.ts';

function sendOnlyNodes({ senders, upstreamPool }: Configuration): ReadonlyMap<Network, UpstreamNode[]> {
  // The section itself: nodes read their limits at each use, so that what is changed of them while the service runs holds.
  const nodes = senders.map((sender) => new UpstreamNode(sender, sender.network, upstreamPool));
  return Map.groupBy(nodes, ({ network }) => network);
}

/** Puts the sending of transactions in front of the nodes. */
export const openSending = (configuration: Configuration, pool: UpstreamPool, log: Logger): Sending =>
  new Sending({
    source: pool,
    senders: new Senders(pool, sendOnlyNodes(configuration)),
    limits: configuration.sending,
    log,
  });
