import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../../base/log.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Configuration } from '../../config/configuration.ts';
import { RestartBackoff } from '../process/restart-backoff.ts';
import type { ReloadFollowers } from '../reload.ts';
import { IpcChannel } from './ipc-channel.ts';
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

/** Checks and applies configurations in all ready workers. Starting workers get the newest configuration when ready. */
export const workerFollowers = (processes: WorkerProcesses, log: Logger): ReloadFollowers => ({
  async check({ configuration, restart }) {
    const responses = await processes.requestAll('check', { configuration, restart });
    return [...responses.values()].find(({ problems }) => problems.length > 0)?.problems ?? [];
  },
  async apply(configuration) {
    const applied = await processes.requestAll('apply', { configuration });
    for (const worker of processes.readyWorkers) {
      if (applied.has(worker)) continue;
      log.error({ worker }, 'Worker did not apply the configuration; restarting it');
      processes.restart(worker);
    }
  },
});

/** Maximum time from the start of a worker until it is ready. After that, the worker is killed. */
const READY_TIMEOUT_MS = 120_000;

/** Additional time after the drain for a worker to write usage and close. */
const STOP_MARGIN_MS = 30_000;

type Out = typeof workerMethods;

/** Requests from a starting worker, handled in this file. `handlersFor` provides all other handlers. */
type LifecycleMethods = 'ready' | 'failed';

type WorkerProcessesOptions = Readonly<{
  workers: number;
  handlersFor: (worker: number) => Omit<IpcHandlers<typeof primaryMethods>, LifecycleMethods>;
  currentConfiguration: () => Configuration;
  onExit: (worker: number) => void;
  log: Logger;
}>;

type RunningWorker = Readonly<{
  process: Worker;
  channel: IpcChannel<Out, typeof primaryMethods>;
  exited: Promise<void>;
}>;

type WorkerEntry = {
  readonly worker: number;
  readonly backoff: RestartBackoff;
  running: RunningWorker | null;
  /** On the performance.now() clock; null until the worker is ready. */
  readyAt: number | null;
  timer: NodeJS.Timeout | null;
};

const isReady = ({ readyAt }: WorkerEntry): boolean => readyAt !== null;

/** Worker processes that listen on the same ports. If a worker dies, it is restarted while the others continue. */
export class WorkerProcesses {
  readonly #options: WorkerProcessesOptions;
  readonly #entries: readonly WorkerEntry[];
  #stopping = false;
  #restarts = 0;

  constructor(options: WorkerProcessesOptions) {
    this.#options = options;
    this.#entries = Array.from({ length: options.workers }, (_, index) => ({
      worker: index + 1,
      backoff: new RestartBackoff(),
      running: null,
      readyAt: null,
      timer: null,
    }));
    cluster.setupPrimary({ serialization: 'advanced' });
  }

  get restarts(): number {
    return this.#restarts;
  }

  get readyWorkers(): readonly number[] {
    return this.#entries.filter(isReady).map(({ worker }) => worker);
  }

  /**
   * Starts all workers and returns the address they listen on.
   * @param isFirst - whether the database is new: if so, worker 1 starts first, so that initial data is created once.
   * @throws OperatorError
   */
  async start(isFirst: boolean): Promise<WorkerAddress> {
    const [first, ...others] = this.#entries;
    const firstAddress = this.#fork(first as WorkerEntry);
    if (isFirst) await firstAddress;
    const [address] = await Promise.all([firstAddress, ...others.map((entry) => this.#fork(entry))]);
    return address;
  }

  /** Sends a request to all ready workers. @returns the responses that arrived in time, by worker. */
  async requestAll<Kind extends keyof Out & string>(
    method: Kind,
    value: RequestOf<Out, Kind>,
    timeoutMs?: number,
  ): Promise<Map<number, ResponseOf<Out, Kind>>> {
    const responses = new Map<number, ResponseOf<Out, Kind>>();
    await Promise.all(
      this.#entries.filter(isReady).map(async ({ worker, running }) => {
        const response = await running?.channel.request(method, value, timeoutMs).catch(() => undefined);
        if (response !== undefined) responses.set(worker, response);
      }),
    );
    return new Map([...responses].sort(([one], [other]) => one - other));
  }

  /** Signals only ready workers: a worker that is still starting has no signal handler yet and would exit. */
  signal(signal: NodeJS.Signals): void {
    for (const { running } of this.#entries.filter(isReady)) running?.process.process.kill(signal);
  }

  restart(worker: number): void {
    const running = this.#entries[worker - 1]?.running ?? null;
    if (running !== null) this.#requestStop(running);
  }

  /** Drains all workers. Kills workers that take too long. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const { timer } of this.#entries) if (timer !== null) clearTimeout(timer);
    const runningWorkers = this.#entries.flatMap(({ running }) => (running === null ? [] : [running]));
    for (const running of runningWorkers) this.#requestStop(running);
    await Promise.all(runningWorkers.map(({ exited }) => exited));
  }

  #fork(entry: WorkerEntry): Promise<WorkerAddress> {
    const { promise, resolve, reject } = Promise.withResolvers<WorkerAddress>();
    const { log, currentConfiguration } = this.#options;
    const { worker } = entry;
    const initialConfiguration = currentConfiguration();
    const process = cluster.fork({ [WORKER_VARIABLE]: String(worker) });
    closePendingConnections(process.process);
    const handlers: IpcHandlers<typeof primaryMethods> = {
      ...this.#options.handlersFor(worker),
      ready: (address) => {
        entry.readyAt = performance.now();
        resolve(address);
        const configuration = currentConfiguration();
        // The configuration changed while the worker was starting.
        if (configuration !== initialConfiguration)
          channel.request('apply', { configuration }).catch(() => this.restart(worker));
        return null;
      },
      failed: ({ problem }) => {
        reject(new OperatorError(problem));
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
    const killTimer = setTimeout(() => process.process.kill('SIGKILL'), READY_TIMEOUT_MS);
    const exited = waitForExit(process, (problem) => {
      log.warn({ worker, reason: problem }, 'Worker unreachable');
    }).then(({ code, signal }) => {
      clearTimeout(killTimer);
      const how = signal ?? `exit code ${code}`;
      reject(new OperatorError(`worker ${worker} exited with ${how}; see the log`));
      this.#handleExit(entry, code, signal);
    });
    promise.then(() => clearTimeout(killTimer), ignore);
    entry.running = { process, channel, exited };
    return promise;
  }

  #handleExit(entry: WorkerEntry, code: number | null, signal: string | null): void {
    const { log, onExit } = this.#options;
    const { worker, running, readyAt } = entry;
    running?.channel.close();
    entry.running = null;
    entry.readyAt = null;
    onExit(worker);
    if (this.#stopping) return;
    const delay = entry.backoff.next(readyAt === null ? 0 : performance.now() - readyAt);
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

  #requestStop({ process, channel, exited }: RunningWorker): void {
    channel.request('stop', null).catch(ignore);
    const { drainNoticeMs, drainGraceMs } = this.#options.currentConfiguration().server;
    const timeoutMs = drainNoticeMs + drainGraceMs + STOP_MARGIN_MS;
    const killTimer = setTimeout(() => process.process.kill('SIGKILL'), timeoutMs);
    void exited.then(() => clearTimeout(killTimer));
  }
}

type ExitStatus = Readonly<{ code: number | null; signal: string | null }>;

/** Resolves when the worker has exited or could not be spawned; a failed spawn emits no exit event. */
function waitForExit(worker: Worker, onProblem: (problem: string) => void): Promise<ExitStatus> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve({ code, signal }));
    worker.on('error', ({ message }) => {
      onProblem(message);
      if (worker.process.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}

/** For errors that need no handling. After a failed send, the request times out or fails when the process exits. */
const ignore = (): void => {};
