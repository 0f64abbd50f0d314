import type { Slot } from '../../solana/units.ts';
import { feedLimits } from '../feeds/limits.ts';
import { type ConnectionEnd, PubsubConnection } from '../feeds/pubsub-connection.ts';
import type { NodeConfig } from '../node.ts';

export type PubsubReport = Readonly<{
  fault: ConnectionEnd | 'slotSubscribe is rejected' | null;
  /** First slot; null if none arrived in time. */
  slot: Slot | null;
}>;

/** Never rejects. @param timeoutMs - total time for the handshake, the acknowledgment and the first slot. */
export async function probePubsub(node: NodeConfig, timeoutMs: number): Promise<PubsubReport> {
  let fault: PubsubReport['fault'] = null;
  const limits = { ...feedLimits, handshakeTimeoutMs: timeoutMs, ackTimeoutMs: timeoutMs };
  const connection = new PubsubConnection({
    node,
    limits,
    // No reference slot is known.
    maxPlausibleSlot: () => null,
    onEnd: (end) => (fault ??= end),
  });
  const isReady = await connection.ready;
  if (isReady && !connection.sendsSlots) fault = 'slotSubscribe is rejected';
  const report = { fault, slot: connection.lastSlot?.slot ?? null };
  connection.end('closed by us');
  return report;
}
