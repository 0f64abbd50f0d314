import type { Slot } from '../../solana/units.ts';
import { feedLimits } from '../feeds/limits.ts';
import { type ConnectionEnd, PubsubConnection } from '../feeds/pubsub-connection.ts';
import type { NodeConfig } from '../node.ts';

/** What became of a connection to a node's PubSub. */
export type PubsubReport = Readonly<{
  /** Why nothing can be heard there; null when it acknowledged slotSubscribe. */
  fault: ConnectionEnd | 'slotSubscribe is refused' | null;
  /** The first slot it told of; null when it told none in time. */
  slot: Slot | null;
}>;

/**
 * Connects to a node's PubSub and subscribes to slots. Never rejects for what the node does.
 * @param node - with a `ws` address.
 * @param timeoutMs - for the handshake, for the acknowledgement and for the first slot.
 */
export async function probePubsub(node: NodeConfig, timeoutMs: number): Promise<PubsubReport> {
  let fault: PubsubReport['fault'] = null;
  const limits = { ...feedLimits, handshakeTimeoutMs: timeoutMs, ackTimeoutMs: timeoutMs };
  const connection = new PubsubConnection({
    node,
    limits,
    // Nothing is known that its slots could be measured against.
    maxPlausibleSlot: () => null,
    onEnd: (end) => (fault ??= end),
  });
  const isReady = await connection.ready;
  if (isReady && !connection.sendsSlots) fault = 'slotSubscribe is refused';
  const report = { fault, slot: connection.lastSlot?.slot ?? null };
  connection.end('closed by us');
  return report;
}
