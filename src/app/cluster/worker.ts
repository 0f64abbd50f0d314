import cluster from 'node:cluster';
import type { Logger } from '../../base/log.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Configuration } from '../../config/configuration.ts';
import { ConfigurationError } from '../../config/errors.ts';
import type { Environment } from '../../config/sources.ts';
import { LimitStoreUnavailableError } from '../../control/shared/limit-store.ts';
import type { SharedStorageQuota } from '../../control/storage/file-store.ts';
import { Failure } from '../../protocol/errors.ts';
import { errorText } from '../error-text.ts';
import { deprioritizeHelperThreads } from '../process/helper-threads.ts';
import { type Service, startService } from '../service.ts';
import { IpcChannel } from './ipc-channel.ts';
import { type IpcHandlers, primaryMethods, type WorkerSettings, workerMethods } from './ipc-messages.ts';
import { openRelayedShreds } from './relayed-shreds.ts';
import { toWorkerConfiguration } from './worker-configuration.ts';
import type { WorkerCallbacks, WorkerContext } from './worker-context.ts';

type WorkerOptions = Readonly<{
  environment: Environment;
  openLog: (section: Configuration['log']) => Logger;
  logLevelOf: (section: Configuration['log']) => string;
  /** Resolves with a reason when the process should stop. */
  shutdown: Promise<string>;
}>;

type PrimaryChannel = IpcChannel<typeof primaryMethods, typeof workerMethods>;

type WorkerHandlers = ReturnType<typeof workerHandlers>;

function workerHandlers() {
  let callbacks: WorkerCallbacks | null = null;
  let page: (() => string) | null = null;
  const stopped = Promise.withResolvers<string>();
  const readyCallbacks = (): WorkerCallbacks => {
    if (callbacks === null) throw new OperatorError('the worker is still starting');
    return callbacks;
  };
  const handlers: IpcHandlers<typeof workerMethods> = {
    stop() {
      stopped.resolve('requested by the primary');
      return null;
    },
    async refresh() {
      await readyCallbacks().refresh();
      return null;
    },
    workerMetrics() {
      if (page === null) throw new OperatorError('metrics are disabled');
      return page();
    },
    check: (changes) => ({ problems: readyCallbacks().check(changes) }),
    apply({ configuration }) {
      readyCallbacks().apply(configuration);
      return null;
    },
  };
  return {
    handlers,
    stopped: stopped.promise,
    setCallbacks(built: WorkerCallbacks): void {
      callbacks = built;
    },
    setMetricsPage(own: () => string): void {
      page = own;
    },
  };
}

function openChannel({ handlers }: WorkerHandlers): PrimaryChannel {
  const channel: PrimaryChannel = new IpcChannel({
    outgoing: primaryMethods,
    incoming: workerMethods,
    handlers,
    send: (message) => {
      if (!process.connected) return false;
      process.send?.(message, undefined, undefined, () => {});
      return true;
    },
  });
  process.on('message', (message) => channel.receive(message));
  process.once('disconnect', () => channel.close());
  return channel;
}

const sharedQuotaOf = (channel: PrimaryChannel): SharedStorageQuota => ({
  async reserve(cid, bytes) {
    const isReserved = await channel.request('reserveStorage', { cid, bytes }).catch(() => null);
    if (isReserved === null) throw new Failure('STORAGE_UNAVAILABLE');
    if (!isReserved) throw new Failure('STORAGE_FULL');
  },
  settle: (cid, isStored) => void channel.request('settleStorage', { cid, isStored }).catch(() => {}),
});

function workerContextOf(
  settings: WorkerSettings,
  channel: PrimaryChannel,
  handlers: WorkerHandlers,
): WorkerContext {
  const { worker, workers, upstreamClients, configuration, ledger, shreds } = settings;
  const { commandTimeoutMs } = configuration.shared;
  return {
    worker,
    toWorkerConfiguration: (whole) => toWorkerConfiguration(whole, workers, upstreamClients),
    ledger,
    openShreds: (log) => (shreds === null ? null : openRelayedShreds(shreds, configuration, log)),
    limits: {
      get problem() {
        return channel.isClosed ? new LimitStoreUnavailableError(undefined) : null;
      },
      start: async () => {},
      execute(steps) {
        // Sends only these members: a command may also have a callback, which cannot be serialized.
        const sent = steps.map(({ name, keys, values }) => ({ name, keys, values }));
        return channel.request('limits', sent, commandTimeoutMs);
      },
      stop: async () => {},
    },
    sharedQuota: sharedQuotaOf(channel),
    joinMetrics(own) {
      handlers.setMetricsPage(own);
      return () => channel.request('joinedMetrics', null);
    },
    async reload(by) {
      const { actor, address = null, userAgent = null, requestId = null } = by;
      const response = await channel.request('reload', { actor, address, userAgent, requestId });
      if ('problems' in response) throw new ConfigurationError(response.problems);
      return response;
    },
    setCallbacks: handlers.setCallbacks,
  };
}

const logOf = ({ openLog }: WorkerOptions, { worker, configuration }: WorkerSettings): Logger =>
  openLog(configuration.log).child({ worker });

/** Never rejects: reports errors to the primary. @returns null if the service could not start. */
async function start(
  options: WorkerOptions,
  channel: PrimaryChannel,
  handlers: WorkerHandlers,
  log: Logger,
  settings: WorkerSettings,
): Promise<Service | null> {
  deprioritizeHelperThreads(settings.workers);
  try {
    const service = await startService({
      configuration: settings.configuration,
      environment: options.environment,
      // Not used: the primary starts the embedded ledger.
      program: [process.execPath],
      log,
      reloadSource: { read: () => settings.configuration, logLevelOf: options.logLevelOf },
      workerContext: workerContextOf(settings, channel, handlers),
    });
    const { url, grpcUrl, hasShredStage, isDevelopment, nodes } = service;
    const address = { url, grpcUrl, hasShredStage, isDevelopment, nodes };
    // The disconnect event handles the loss of the primary.
    channel.request('ready', address).catch(() => {});
    return service;
  } catch (error) {
    await channel.request('failed', { problem: errorText(error) }).catch(() => {});
    return null;
  }
}

/** Runs this process as a worker until it is stopped or loses the primary. @returns whether the service started. */
export async function runWorker(options: WorkerOptions): Promise<boolean> {
  // By default, Node.js ends a worker at once when the primary exits, which would abort pending requests.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  // Only the primary rereads the configuration, but a SIGHUP to the whole process group must not stop the workers.
  process.on('SIGHUP', () => {});
  const handlers = workerHandlers();
  const channel = openChannel(handlers);
  const settings = await channel.request('getSettings', null);
  const log = logOf(options, settings);
  const service = await start(options, channel, handlers, log, settings);
  if (service === null) return false;
  const reason = await Promise.race([options.shutdown, handlers.stopped]);
  log.info({ reason }, 'Stopping');
  await service.stop();
  log.info('Stopped');
  if (process.connected) process.disconnect();
  return true;
}
