import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Network } from '../../protocol/call.ts';
import { UpstreamNode } from '../../upstream/node.ts';
import type { UpstreamPool } from '../../upstream/pool.ts';
import { SubmitTargets } from '../../upstream/submit/submit-targets.ts';
import { TransactionSubmitter } from '../../upstream/submit/transaction-submitter.ts';

function sendOnlyNodes({ senders, upstreamPool }: Configuration): ReadonlyMap<Network, UpstreamNode[]> {
  // The section itself: nodes read their limits at each use, so that what is changed of them while the service runs holds.
  const nodes = senders.map((sender) => new UpstreamNode(sender, sender.network, upstreamPool));
  return Map.groupBy(nodes, ({ network }) => network);
}

/** Puts the sending of transactions in front of the nodes. */
export const openSending = (
  configuration: Configuration,
  pool: UpstreamPool,
  log: Logger,
): TransactionSubmitter =>
  new TransactionSubmitter({
    source: pool,
    targets: new SubmitTargets(pool, sendOnlyNodes(configuration)),
    limits: configuration.transactions,
    log,
  });
