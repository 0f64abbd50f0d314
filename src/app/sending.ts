import type { Logger } from '../base/log.ts';
import type { Network } from '../protocol/call.ts';
import { defaultUpstreamLimits } from '../upstream/limits.ts';
import { UpstreamNode } from '../upstream/node.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import { Senders } from '../upstream/send/senders.ts';
import { Sending } from '../upstream/send/sending.ts';
import type { Configuration } from './configuration.ts';

function sendOnlyNodes({ senders, upstreamPool }: Configuration): ReadonlyMap<Network, UpstreamNode[]> {
  const limits = { ...defaultUpstreamLimits, ...upstreamPool };
  const nodes = senders.map((sender) => new UpstreamNode(sender, sender.network, limits));
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
