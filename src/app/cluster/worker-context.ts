import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Problem } from '../../config/errors.ts';
import type { ReloadActor, ReloadResult } from '../../control/api/services.ts';
import type { LimitStore } from '../../control/shared/limit-store.ts';
import type { SharedStorageQuota } from '../../control/storage/file-store.ts';
import type { LocalnetPorts } from '../localnet/localnet-process.ts';
import type { ProposedChanges } from '../reload.ts';
import type { Shreds } from '../upstreams/shreds.ts';

/** Environment variable with the worker number. Only the primary sets it. */
export const WORKER_VARIABLE = 'SOLWAY_WORKER';

export type WorkerCallbacks = Readonly<{
  refresh(): Promise<void>;
  check(changes: ProposedChanges): readonly Problem[];
  apply(configuration: Configuration): void;
}>;

export type WorkerContext = Readonly<{
  /** Worker number, from 1. */
  worker: number;
  toWorkerConfiguration(configuration: Configuration): Configuration;
  ledger: LocalnetPorts | null;
  openShreds(log: Logger): Shreds | null;
  limits: LimitStore;
  sharedQuota: SharedStorageQuota;
  /** Registers `own`, which renders this worker's metrics. @returns a function that reads the joined metrics. */
  joinMetrics(own: () => string): () => Promise<string>;
  /** @throws ConfigurationError, or another OperatorError */
  reload(by: ReloadActor): Promise<ReloadResult>;
  setCallbacks(callbacks: WorkerCallbacks): void;
}>;
