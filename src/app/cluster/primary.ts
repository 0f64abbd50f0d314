import { rm } from 'node:fs/promises';
import type { Configuration } from '../../config/configuration.ts';
import { ConfigurationError } from '../../config/errors.ts';
import { LiveConfiguration } from '../../config/live-configuration.ts';
import { WORKERS_MAX } from '../../config/schema-server.ts';
import type { ReloadActor } from '../../control/api/services.ts';
import { openStorageCounter, type StorageCounter } from '../../control/storage/open-storage.ts';
import { createFirstStartKeys, prepareStore } from '../access.ts';
import { firstOperatorLink } from '../commands/operators.ts';
import { decideDevelopmentMode } from '../development-mode.ts';
import { errorText } from '../error-text.ts';
import { filesDir, offChainDir, openDataDir } from '../process/data-dir.ts';
import { logIncompleteShutdown, type StopFunctions, stopEach } from '../process/stop-each.ts';
import { Reload, type ReloadParts } from '../reload.ts';
import { openReloadSocket } from '../reload-socket.ts';
import { checkPorts, type Service, type ServiceOptions } from '../service.ts';
import { openSharedServices } from '../shared-services.ts';
import { clusterMetrics } from './cluster-metrics.ts';
import { ClusterStorageQuota } from './cluster-storage-quota.ts';
import { PrimaryLimitStore } from './primary-limit-store.ts';
import { relayShredStage } from './relayed-shred-stage.ts';
import { toWorkerConfiguration, workerCount } from './worker-configuration.ts';
import { WorkerProcesses, workerFollowers } from './worker-processes.ts';

async function removeUnusedFolders({ dataDir }: Configuration, workers: number): Promise<void> {
  for (let worker = workers + 1; worker <= WORKERS_MAX; worker++) {
    await rm(offChainDir(dataDir, worker), { recursive: true, force: true });
  }
}

async function countFiles({ dataDir, kubo, storage }: Configuration): Promise<StorageCounter | null> {
  if (kubo.url !== null) return null;
  return openStorageCounter({ folder: filesDir(dataDir), uriPrefix: () => '', limits: storage });
}

async function openPrimary(options: ServiceOptions, workers: number, stops: StopFunctions) {
  const { configuration, environment, program, log } = options;
  await checkPorts(configuration);
  await openDataDir(configuration.dataDir);
  await removeUnusedFolders(configuration, workers);
  const prepared = await prepareStore(configuration, environment, log);
  stops.push(() => prepared.store.close());
  const files = await countFiles(configuration);
  if (files !== null) stops.push(files.close);
  const isDevelopment = await decideDevelopmentMode(configuration, prepared.store, log);
  const { shreds, ledger } = await openSharedServices(configuration, isDevelopment, program, log, stops);
  const upstreamClients = shreds === null ? workers : workers + 1;
  const toWorker = (whole: Configuration) => toWorkerConfiguration(whole, workers, upstreamClients);
  const live = new LiveConfiguration(configuration, toWorker);
  const relayedStage =
    shreds === null ? null : await relayShredStage(live.view, shreds, ledger, prepared, log, stops);
  const noNodes: ReloadParts['activeNodes'] = { addedNames: [], setFileNodes: () => {} };
  const activeNodes = relayedStage?.activeNodes ?? noNodes;
  const workerSettings = { workers, upstreamClients, ledger, shreds: relayedStage?.address ?? null };
  return { options, workers, workerSettings, prepared, live, activeNodes, files };
}

function buildWorkers(primary: Awaited<ReturnType<typeof openPrimary>>) {
  const { workers, workerSettings, live, activeNodes, files } = primary;
  const { log, reloadSource } = primary.options;
  const limits = new PrimaryLimitStore();
  const storageQuota = files === null ? null : new ClusterStorageQuota(files.fileStore);
  const processes = new WorkerProcesses({
    workers,
    currentConfiguration: () => live.current,
    handlersFor: (worker) => ({
      getSettings: () => ({ ...workerSettings, worker, configuration: live.current }),
      limits: (steps) => limits.execute(worker, steps),
      joinedMetrics: () => readMetrics(),
      reserveStorage: ({ cid, bytes }) => storageQuota === null || storageQuota.reserve(worker, cid, bytes),
      settleStorage({ cid, isStored }) {
        storageQuota?.settle(worker, cid, isStored);
        return null;
      },
      async reload(by) {
        try {
          return await reload.enqueue(by);
        } catch (error) {
          if (error instanceof ConfigurationError) return { problems: error.problems };
          throw error;
        }
      },
    }),
    onExit(worker) {
      limits.removeWorker(worker);
      storageQuota?.releaseWorker(worker).catch((error: unknown) => {
        const reason = errorText(error);
        log.warn({ reason }, 'Failed to determine the storage reservations of an exited worker');
      });
    },
    log,
  });
  const readMetrics = clusterMetrics(processes, workers);
  const { store } = primary.prepared;
  const followers = workerFollowers(processes, log);
  const reload = new Reload({ live, reloadSource, store, activeNodes, log, followers });
  return { processes, reload };
}

/** Starts the workers, each a complete gateway on the same ports. The primary itself serves no requests. */
export async function startCluster(options: ServiceOptions): Promise<Service> {
  const { configuration, log } = options;
  const stops: StopFunctions = [];
  const stop = () => stopEach(stops.splice(0).reverse());
  try {
    const primary = await openPrimary(options, workerCount(configuration), stops);
    const { store } = primary.prepared;
    const { processes, reload } = buildWorkers(primary);
    stops.push(() => processes.stop());
    const serviceAddress = await processes.start(store.schemaFound === 0);
    const newKeys = await createFirstStartKeys(primary.prepared, configuration);
    if (newKeys.length > 0) await processes.requestAll('refresh', null);
    const setupUrl = await firstOperatorLink(configuration, store, serviceAddress.url);
    const forCaller = (by: ReloadActor) => reload.forCaller(by);
    stops.push(await openReloadSocket(configuration.dataDir, forCaller, log));
    return {
      ...{ ...serviceAddress, newKeys, setupUrl, stop },
      async reload() {
        await reload.forSignal();
        // On SIGHUP, workers reload their certificates.
        processes.signal('SIGHUP');
      },
    };
  } catch (error) {
    await stop().catch(logIncompleteShutdown(log));
    throw error;
  }
}
