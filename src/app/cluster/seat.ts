import type { Logger } from '../../base/log.ts';
import type { Reloaded, ReloadedBy } from '../../control/api/services.ts';
import type { LimitExchange } from '../../control/shared/limit-exchange.ts';
import type { FileRoom } from '../../control/storage/file-room.ts';
import type { Configuration } from '../configuration.ts';
import type { Problem } from '../configuration-errors.ts';
import type { LocalnetPorts } from '../localnet-process.ts';
import type { FollowedChanges } from '../reload.ts';
import type { Shreds } from '../shreds.ts';

/** What a worker does for the primary once it is built. */
export type SeatWorks = Readonly<{
  /** Looks for changes of keys, now. */
  refresh(): Promise<void>;
  /** What speaks against a configuration that is to be in force. */
  check(changes: FollowedChanges): readonly Problem[];
  /** Puts it into force. */
  apply(configuration: Configuration): void;
}>;

/** The place of a process that is one of several workers of one service: what it is given and need not have itself. */
export type Seat = Readonly<{
  /** From 1 on. */
  worker: number;
  /** What of the configuration holds for one worker. */
  partOf(configuration: Configuration): Configuration;
  /** Where the embedded ledger answers; null where there is none. */
  ledger: LocalnetPorts | null;
  /** Hears the shred stage from the primary; null where there is none. */
  openShreds(log: Logger): Shreds | null;
  /** Where limits are shared with the other workers. */
  limits: LimitExchange;
  /** Room for stored files, of all workers together. */
  room: FileRoom;
  /** Says how this worker's own page of metrics is had. @returns how that of all workers is. */
  joinMetrics(own: () => string): () => Promise<string>;
  /** Has the configuration read again for all workers. @throws ConfigurationError, NoAnswer */
  reload(by: ReloadedBy): Promise<Reloaded>;
  serve(works: SeatWorks): void;
}>;
