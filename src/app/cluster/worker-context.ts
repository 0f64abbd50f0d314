import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Problem } from '../../config/errors.ts';
import type { ReloadActor, ReloadResult } from '../../control/api/services.ts';
import type { LimitStore } from '../../control/shared/limit-store.ts';
import type { SharedStorageQuota } from '../../control/storage/file-store.ts';
import type { LocalnetPorts } from '../localnet/localnet-process.ts';
import type { ProposedChanges } from '../reload.ts';
import type { Shreds } from '../upstreams/shreds.ts';

/** The variable of the environment that says which worker a process is; set by the primary alone. */
export const WORKER_VARIABLE = 'SOLWAY_WORKER';

/** Operations of a started worker for the primary. */
export type WorkerCallbacks = Readonly<{
  /** Looks for changes of keys, now. */
  refresh(): Promise<void>;
  /** Problems of a proposed configuration. */
  check(changes: ProposedChanges): readonly Problem[];
  /** Puts it into force. */
  apply(configuration: Configuration): void;
}>;

/** The place of a process that is one of several workers of one service: what it is given and need not have itself. */
export type WorkerContext = Readonly<{
  /** From 1 on. */
  worker: number;
  /** Computes the part of the configuration for one worker. */
  toWorkerConfiguration(configuration: Configuration): Configuration;
  /** Where the embedded ledger answers; null where there is none. */
  ledger: LocalnetPorts | null;
  /** Receives the shred stage from the primary; null without one. */
  openShreds(log: Logger): Shreds | null;
  /** Where limits are shared with the other workers. */
  limits: LimitStore;
  /** Room for stored files, of all workers together. */
  sharedQuota: SharedStorageQuota;
  /** Says how this worker's own page of metrics is had. @returns how that of all workers is. */
  joinMetrics(own: () => string): () => Promise<string>;
  /** Has the configuration read again for all workers. @throws ConfigurationError, NoAnswer */
  reload(by: ReloadActor): Promise<ReloadResult>;
  setCallbacks(callbacks: WorkerCallbacks): void;
}>;
