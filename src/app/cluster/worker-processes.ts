import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { ReloadFollowers } from '../reload.ts';
import { IpcChannel } from './ipc-channel.ts';
import { WorkerStartError } from './ipc-error.ts';
import {
  type IpcHandlers,
  primaryMethods,
  type RequestOf,
  type ResponseOf,
  type WorkerAddress,
  workerMethods,
} from './ipc-messages.ts';
import { closePendingConnections } from './pending-connections.ts';
import { WORKER_VARIABLE } from './worker-context.ts';

/** Has all workers check and take a configuration; one that is being started gets the newest with its place. */
export const workerFollowers = (processes: WorkerProcesses, log: Logger): ReloadFollowers => ({
  async check({ configuration, restart }) {
    const responses = await processes.requestAll('check', { configuration, restart: [...restart] });
    return [...responses.values()].find(({ problems }) => problems.length > 0)?.problems ?? [];
  },
  async apply(configuration) {
    const applied = await processes.requestAll('apply', { configuration });
    for (const worker of processes.readyWorkers) {
      if (applied.has(worker)) continue;
      log.error({ worker }, 'Worker did not apply the configuration; restarting it');
      processes.renew(worker);
    }
  },
});

/** How workers are kept alive. */
export type WorkerLimits = Readonly<{
  /** How long one may take to open its doors. */
  readyTimeoutMs: number;
  restartDelayMinMs: number;
  restartDelayMaxMs: number;
  /** Uptime after which the restart delay starts from its minimum again. */
  healthyAfterMs: number;
  /** How long one may take to drain and to write what is counted. */
  stopTimeoutMs: number;
}>;

type Out = typeof workerMethods;

/** Requests that a starting worker may send; the owner handles the others. */
type LifecycleMethods = 'ready' | 'failed';

export type WorkerProcessesOptions = Readonly<{
  workers: number;
  limits: WorkerLimits;
  handlersFor: (worker: number) => Omit<IpcHandlers<typeof primaryMethods>, LifecycleMethods>;
  /** The configuration that is in force. */
  configuration: () => Configuration;
  /** A worker is gone. */
  onExit: (worker: number) => void;
  log: Logger;
}>;

/** One run of a worker. */
type RunningWorker = Readonly<{
  process: Worker;
  channel: IpcChannel<Out, typeof primaryMethods>;
  ended: Promise<void>;
}>;

/** One place, and the process that has it. */
class WorkerEntry {
  running: RunningWorker | null = null;
  isReady = false;
  readyAt = 0;
  /** Deaths since it last ran for `healthyAfterMs`. */
  deaths = 0;
  timer: NodeJS.Timeout | null = null;
  readonly worker: number;

  constructor(worker: number) {
    this.worker = worker;
  }
}

/**
 * The workers of a service: processes that listen together. One that dies is started again, the sooner the longer it
 * lived; the others go on meanwhile.
 */
export class WorkerProcesses {
  readonly #options: WorkerProcessesOptions;
  readonly #entries: readonly WorkerEntry[];
  #stopping = false;
  #restarts = 0;

  constructor(options: WorkerProcessesOptions) {
    this.#options = options;
    this.#entries = Array.from({ length: options.workers }, (_, index) => new WorkerEntry(index + 1));
    cluster.setupPrimary({ serialization: 'advanced' });
  }

  /** Workers that were started again since the start. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Workers whose doors are open. */
  get readyWorkers(): readonly number[] {
    return this.#entries.filter(({ isReady }) => isReady).map(({ worker }) => worker);
  }

  /**
   * Starts all of them.
   * @param isFirst - at the very first start one opens its doors before the others begin: what that makes is made once.
   * @returns where they are reached.
   * @throws WorkerStartError
   */
  async start(isFirst: boolean): Promise<WorkerAddress> {
    const [first, ...others] = this.#entries;
    const one = this.#fork(first as WorkerEntry);
    if (isFirst) await one;
    const [address] = await Promise.all([one, ...others.map((entry) => this.#fork(entry))]);
    return address;
  }

  /** Sends a request to all ready workers. @returns the responses that arrived in time. */
  async requestAll<Kind extends keyof Out & string>(
    method: Kind,
    value: RequestOf<Out, Kind>,
    timeoutMs?: number,
  ): Promise<Map<number, ResponseOf<Out, Kind>>> {
    const responses = new Map<number, ResponseOf<Out, Kind>>();
    const readyEntries = this.#entries.filter(({ isReady }) => isReady);
    await Promise.all(
      readyEntries.map(async ({ worker, running }) => {
        const response = await running?.channel.request(method, value, timeoutMs).catch(() => undefined);
        if (response !== undefined) responses.set(worker, response);
      }),
    );
    return new Map([...responses].sort(([one], [other]) => one - other));
  }

  /** Sends to each started worker: earlier, the message would end it. */
  signal(signal: NodeJS.Signals): void {
    for (const { running, isReady } of this.#entries) if (isReady) running?.process.process.kill(signal);
  }

  /** Has one that is not as the others are start again. */
  renew(worker: number): void {
    const running = this.#entries[worker - 1]?.running ?? null;
    if (running !== null) requestStop(running, this.#options.limits.stopTimeoutMs);
  }

  /** Drains all workers; kills those that take longer than `stopTimeoutMs`. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const { timer } of this.#entries) if (timer !== null) clearTimeout(timer);
    const runningWorkers = this.#entries.flatMap(({ running }) => (running === null ? [] : [running]));
    for (const running of runningWorkers) requestStop(running, this.#options.limits.stopTimeoutMs);
    await Promise.all(runningWorkers.map(({ ended }) => ended));
  }

  /** Starts the process of a place. @returns where it is reached. @throws WorkerStartError */
  #fork(entry: WorkerEntry): Promise<WorkerAddress> {
    const { promise, resolve, reject } = Promise.withResolvers<WorkerAddress>();
    const { log, limits, configuration } = this.#options;
    const { worker } = entry;
    const initialConfiguration = configuration();
    const process = cluster.fork({ [WORKER_VARIABLE]: String(worker) });
    closePendingConnections(process.process);
    const handlers: IpcHandlers<typeof primaryMethods> = {
      ...this.#options.handlersFor(worker),
      ready: (address) => {
        entry.isReady = true;
        entry.readyAt = performance.now();
        resolve(address);
        // It was given another while it was being built.
        if (configuration() !== initialConfiguration)
          channel.request('apply', { configuration: configuration() }).catch(() => this.renew(worker));
        return null;
      },
      failed: ({ problem }) => {
        reject(new WorkerStartError(problem));
        return null;
      },
    };
    const channel = new IpcChannel({
      outgoing: workerMethods,
      incoming: primaryMethods,
      handlers,
      send: (message) => {
        if (process.isConnected()) process.send(message, ignore);
        return process.isConnected();
      },
    });
    process.on('message', (message: unknown) => channel.receive(message));
    const killTimer = setTimeout(() => process.process.kill('SIGKILL'), limits.readyTimeoutMs);
    const ended = waitForExit(process, (problem) => {
      log.warn({ worker, problem }, 'Worker unreachable');
    }).then(({ code, signal }) => {
      clearTimeout(killTimer);
      const how = signal ?? `exit code ${code}`;
      reject(new WorkerStartError(`worker ${worker} ended with ${how}; the log has its words`));
      this.#handleExit(entry, code, signal);
    });
    promise.then(() => clearTimeout(killTimer), ignore);
    entry.running = { process, channel, ended };
    return promise;
  }

  #handleExit(entry: WorkerEntry, code: number | null, signal: string | null): void {
    const { log, limits, onExit } = this.#options;
    const { worker, running, isReady } = entry;
    running?.channel.close();
    entry.running = null;
    entry.isReady = false;
    onExit(worker);
    if (this.#stopping) return;
    if (isReady && performance.now() - entry.readyAt >= limits.healthyAfterMs) entry.deaths = 0;
    const delay = Math.min(
      limits.restartDelayMinMs * 2 ** Math.min(entry.deaths, 16),
      limits.restartDelayMaxMs,
    );
    entry.deaths++;
    log.warn({ worker, code, signal, delay }, 'Worker ended; restarting it');
    entry.timer = setTimeout(() => this.#restart(entry), delay);
  }

  #restart(entry: WorkerEntry): void {
    const { log } = this.#options;
    const { worker } = entry;
    this.#restarts++;
    this.#fork(entry).then(
      () => log.info({ worker }, 'Worker restarted'),
      (error: Error) => log.error({ worker, problem: error.message }, 'Worker restart failed'),
    );
  }
}

type ExitStatus = Readonly<{ code: number | null; signal: string | null }>;

/** Resolves when a process has ended, or could not be begun: then it says neither that it ended nor how. */
function waitForExit(worker: Worker, onProblem: (problem: string) => void): Promise<ExitStatus> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve({ code, signal }));
    worker.on('error', ({ message }) => {
      onProblem(message);
      if (worker.process.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}

/** Drains and stops a worker; kills it after the timeout. */
function requestStop({ process, channel, ended }: RunningWorker, timeoutMs: number): void {
  channel.request('stop', null).catch(ignore);
  const killTimer = setTimeout(() => process.process.kill('SIGKILL'), timeoutMs);
  void ended.then(() => clearTimeout(killTimer));
}

/**
 * A message that cannot be sent needs no handling: its timeout or the end of the process ends the request.
 */
const ignore = (): void => {};
