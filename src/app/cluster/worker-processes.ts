import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { ReloadFollowers } from '../reload.ts';
import { IpcChannel } from './ipc-channel.ts';
import {
  type IpcHandlers,
  primaryMethods,
  type RequestOf,
  type ResponseOf,
  type WorkerAddress,
  WorkerStartError,
  workerMethods,
} from './ipc-messages.ts';
import { closePendingConnections } from './pending-connections.ts';
import { WORKER_VARIABLE } from './worker-context.ts';

/** Checks and applies a configuration in all workers; a starting worker gets the newest one. */
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

/** Timeouts and restart delays of workers. */
export type WorkerLimits = Readonly<{
  /** Time to accept connections. */
  readyTimeoutMs: number;
  restartDelayMinMs: number;
  restartDelayMaxMs: number;
  /** Uptime after which the restart delay starts from its minimum again. */
  healthyAfterMs: number;
  /** Time to drain and to write usage. */
  stopTimeoutMs: number;
}>;

type Out = typeof workerMethods;

/** Requests that a starting worker may send; the owner handles the others. */
type LifecycleMethods = 'ready' | 'failed';

export type WorkerProcessesOptions = Readonly<{
  workers: number;
  limits: WorkerLimits;
  handlersFor: (worker: number) => Omit<IpcHandlers<typeof primaryMethods>, LifecycleMethods>;
  /** The current configuration. */
  configuration: () => Configuration;
  /** Called after a worker process has exited. */
  onExit: (worker: number) => void;
  log: Logger;
}>;

type RunningWorker = Readonly<{
  process: Worker;
  channel: IpcChannel<Out, typeof primaryMethods>;
  exited: Promise<void>;
}>;

class WorkerEntry {
  running: RunningWorker | null = null;
  isReady = false;
  readyAt = 0;
  /** Unexpected exits since it last ran for `healthyAfterMs`. */
  unexpectedExits = 0;
  timer: NodeJS.Timeout | null = null;
  readonly worker: number;

  constructor(worker: number) {
    this.worker = worker;
  }
}

/**
 * Worker processes that listen on the same ports. A worker that dies is restarted with backoff while the others
 * continue.
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

  get restarts(): number {
    return this.#restarts;
  }

  get readyWorkers(): readonly number[] {
    return this.#entries.filter(({ isReady }) => isReady).map(({ worker }) => worker);
  }

  /**
   * Starts all workers.
   * @param isFirst - first start of this database: worker 1 starts alone, so that first-start data is created once.
   * @returns their address.
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

  /** Signals ready workers only: a worker that is still starting has no signal handler and would exit. */
  signal(signal: NodeJS.Signals): void {
    for (const { running, isReady } of this.#entries) if (isReady) running?.process.process.kill(signal);
  }

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
    await Promise.all(runningWorkers.map(({ exited }) => exited));
  }

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
        // The configuration changed during its start.
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
    const exited = waitForExit(process, (problem) => {
      log.warn({ worker, reason: problem }, 'Worker unreachable');
    }).then(({ code, signal }) => {
      clearTimeout(killTimer);
      const how = signal ?? `exit code ${code}`;
      reject(new WorkerStartError(`worker ${worker} exited with ${how}; see the log`));
      this.#handleExit(entry, code, signal);
    });
    promise.then(() => clearTimeout(killTimer), ignore);
    entry.running = { process, channel, exited };
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
    if (isReady && performance.now() - entry.readyAt >= limits.healthyAfterMs) entry.unexpectedExits = 0;
    const delay = Math.min(
      limits.restartDelayMinMs * 2 ** Math.min(entry.unexpectedExits, 16),
      limits.restartDelayMaxMs,
    );
    entry.unexpectedExits++;
    log.warn({ worker, code, signal, delay }, 'Worker exited; restarting it');
    entry.timer = setTimeout(() => this.#restart(entry), delay);
  }

  #restart(entry: WorkerEntry): void {
    const { log } = this.#options;
    const { worker } = entry;
    this.#restarts++;
    this.#fork(entry).then(
      () => log.info({ worker }, 'Worker restarted'),
      (error: Error) => log.error({ worker, reason: error.message }, 'Worker restart failed'),
    );
  }
}

type ExitStatus = Readonly<{ code: number | null; signal: string | null }>;

/** Resolves when a process has exited or could not be spawned, which emits no exit event. */
function waitForExit(worker: Worker, onProblem: (problem: string) => void): Promise<ExitStatus> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve({ code, signal }));
    worker.on('error', ({ message }) => {
      onProblem(message);
      if (worker.process.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}

function requestStop({ process, channel, exited }: RunningWorker, timeoutMs: number): void {
  channel.request('stop', null).catch(ignore);
  const killTimer = setTimeout(() => process.process.kill('SIGKILL'), timeoutMs);
  void exited.then(() => clearTimeout(killTimer));
}

/**
 * A message that cannot be sent needs no handling: the request fails at its timeout or when the process
 * exits.
 */
const ignore = (): void => {};
