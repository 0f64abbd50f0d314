import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import type { StreamOpener } from '../../streams/geyser/geyser-handler.ts';
import type { Admission } from '../admission.ts';
import type { KeyWatch } from '../auth/key-watch.ts';
import type { ConnectionLimit } from '../limits/connection-limit.ts';
import type { MessageRateLimiter } from '../limits/message-rate-limiter.ts';
import type { CallMeter } from '../metering/call-meter.ts';
import type { LiveConnections } from '../telemetry/live-connections.ts';

/** What streams and calls of the gRPC services meet on their way. */
export type GeyserGatewayParts = Readonly<{
  admission: Admission;
  meter: CallMeter;
  /** Who lists streams; absent: nobody. */
  connections?: LiveConnections;
  /** Places of streams, where others hold such too. */
  streamLimit?: ConnectionLimit;
  messageLimiter: MessageRateLimiter;
  watch: KeyWatch;
  /** The stage of transactions that were run. */
  standard: StreamOpener;
  /** The stage before; null where nothing tells of it. */
  shred: StreamOpener | null;
  /** The network that the stages tell of. */
  network: Network;
  log: Logger;
}>;
