import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Problem } from '../../config/errors.ts';
import type { ReloadActor, ReloadResult } from '../../control/api/services.ts';
import type { LimitStore } from '../../control/shared/limit-store.ts';
import type { SharedStorageQuota } from '../../control/storage/file-store.ts';
import type { LocalnetPorts } from '../localnet/localnet-process.ts';
import type { ProposedChanges } from '../reload.ts';
import type { Shreds } from '../upstreams/shreds.ts';

/** Environment variable with the number of the worker; set only by the primary. */
export const WORKER_VARIABLE = 'SOLWAY_WORKER';

/** Operations of a started worker for the primary. */
export type WorkerCallbacks = Readonly<{
  /** Applies key changes immediately. */
  refresh(): Promise<void>;
  /** Problems of a proposed configuration. */
  check(changes: ProposedChanges): readonly Problem[];
  /** Applies the proposed configuration. */
  apply(configuration: Configuration): void;
}>;

/** What a worker receives from the primary. */
export type WorkerContext = Readonly<{
  /** Starts at 1. */
  worker: number;
  /** Computes the part of the configuration for one worker. */
  toWorkerConfiguration(configuration: Configuration): Configuration;
  /** Ports of the embedded ledger; null without one. */
  ledger: LocalnetPorts | null;
  /** Receives the shred stage from the primary; null without one. */
  openShreds(log: Logger): Shreds | null;
  /** Limit store of all workers. */
  limits: LimitStore;
  /** Storage quota of all workers. */
  sharedQuota: SharedStorageQuota;
  /** Sets the metrics page of this worker. @returns reads the page of all workers. */
  joinMetrics(own: () => string): () => Promise<string>;
  /** Reloads the configuration of all workers. @throws ConfigurationError, IpcError */
  reload(by: ReloadActor): Promise<ReloadResult>;
  setCallbacks(callbacks: WorkerCallbacks): void;
}>;
