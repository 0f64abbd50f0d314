import type { Admission } from '../../access/admission.ts';
import type { ConnectionLimit } from '../../access/connection-limit.ts';
import type { KeyWatch } from '../../access/key-watch.ts';
import type { MessagePace } from '../../access/message-pace.ts';
import type { Logger } from '../../base/log.ts';
import type { LiveConnections } from '../../observe/live-connections.ts';
import type { Network } from '../../protocol/call.ts';
import type { StreamOpener } from '../../streams/geyser/stream-opener.ts';
import type { CallMeter } from '../call-meter.ts';

/** What streams and calls of the gRPC services meet on their way. */
export type GeyserGateParts = Readonly<{
  admission: Admission;
  meter: CallMeter;
  /** Who lists streams; absent: nobody. */
  connections?: LiveConnections;
  /** Places of streams, where others hold such too. */
  places?: ConnectionLimit;
  pace: MessagePace;
  watch: KeyWatch;
  /** The stage of transactions that were run. */
  standard: StreamOpener;
  /** The stage before; null where nothing tells of it. */
  shred: StreamOpener | null;
  /** The network that the stages tell of. */
  network: Network;
  log: Logger;
}>;
