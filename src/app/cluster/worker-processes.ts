import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../configuration.ts';
import { endHandedConnections } from './handed-connections.ts';
import { Line } from './line.ts';
import {
  type Answerer,
  type AnswerOf,
  type AskedOf,
  askedOfPrimary,
  askedOfWorkers,
  type Reached,
} from './questions.ts';
import { WorkerStartError } from './worker-start-error.ts';
import { WORKER_VARIABLE } from './worker-variable.ts';

/** How workers are kept alive. */
export type WorkerLimits = Readonly<{
  /** How long one may take to open its doors. */
  readyTimeoutMs: number;
  restartDelayMinMs: number;
  restartDelayMaxMs: number;
  /** Who ran that long before it died is started again as at its first death. */
  healthyAfterMs: number;
  /** How long one may take to drain and to write what is counted. */
  stopTimeoutMs: number;
}>;

type Out = typeof askedOfWorkers;

/** What is answered to a worker while it starts; the rest is answered by whoever started all of them. */
type OwnQuestions = 'ready' | 'failed';

export type WorkerProcessesOptions = Readonly<{
  workers: number;
  limits: WorkerLimits;
  /** Answers what a worker asks. */
  answererOf: (worker: number) => Omit<Answerer<typeof askedOfPrimary>, OwnQuestions>;
  /** The configuration that is in force. */
  configuration: () => Configuration;
  /** A worker is gone. */
  onLeft: (worker: number) => void;
  log: Logger;
}>;

/** One run of a worker. */
type Run = Readonly<{ process: Worker; line: Line<Out, typeof askedOfPrimary>; ended: Promise<void> }>;

/** One place, and the process that has it. */
class Place {
  run: Run | null = null;
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
  readonly #places: readonly Place[];
  #stopping = false;
  #restarts = 0;

  constructor(options: WorkerProcessesOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.workers }, (_, index) => new Place(index + 1));
    cluster.setupPrimary({ serialization: 'advanced' });
  }

  /** Workers that were started again since the start. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Workers whose doors are open. */
  get readyWorkers(): readonly number[] {
    return this.#places.filter(({ isReady }) => isReady).map(({ worker }) => worker);
  }

  /**
   * Starts all of them.
   * @param isFirst - at the very first start one opens its doors before the others begin: what that makes is made once.
   * @returns where they are reached.
   * @throws WorkerStartError
   */
  async start(isFirst: boolean): Promise<Reached> {
    const [first, ...others] = this.#places;
    const one = this.#fork(first as Place);
    if (isFirst) await one;
    const [reached] = await Promise.all([one, ...others.map((place) => this.#fork(place))]);
    return reached;
  }

  /** Asks all whose doors are open. @returns what those answered that did in time. */
  async askAll<Kind extends keyof Out & string>(
    about: Kind,
    value: AskedOf<Out, Kind>,
    answerMs?: number,
  ): Promise<Map<number, AnswerOf<Out, Kind>>> {
    const answers = new Map<number, AnswerOf<Out, Kind>>();
    const asked = this.#places.filter(({ isReady }) => isReady);
    await Promise.all(
      asked.map(async ({ worker, run }) => {
        const answer = await run?.line.ask(about, value, answerMs).catch(() => undefined);
        if (answer !== undefined) answers.set(worker, answer);
      }),
    );
    return new Map([...answers].sort(([one], [other]) => one - other));
  }

  /** Tells each process that is built: before, it would end by it. */
  signal(signal: NodeJS.Signals): void {
    for (const { run, isReady } of this.#places) if (isReady) run?.process.process.kill(signal);
  }

  /** Has one that is not as the others are start again. */
  renew(worker: number): void {
    const run = this.#places[worker - 1]?.run ?? null;
    if (run !== null) tellToStop(run, this.#options.limits.stopTimeoutMs);
  }

  /** Has all of them drain; whoever takes longer than `stopTimeoutMs` is killed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const { timer } of this.#places) if (timer !== null) clearTimeout(timer);
    const runs = this.#places.flatMap(({ run }) => (run === null ? [] : [run]));
    for (const run of runs) tellToStop(run, this.#options.limits.stopTimeoutMs);
    await Promise.all(runs.map(({ ended }) => ended));
  }

  /** Starts the process of a place. @returns where it is reached. @throws WorkerStartError */
  #fork(place: Place): Promise<Reached> {
    const { promise, resolve, reject } = Promise.withResolvers<Reached>();
    const { log, limits, configuration } = this.#options;
    const { worker } = place;
    const given = configuration();
    const process = cluster.fork({ [WORKER_VARIABLE]: String(worker) });
    endHandedConnections(process.process);
    const answerer: Answerer<typeof askedOfPrimary> = {
      ...this.#options.answererOf(worker),
      ready: (reached) => {
        place.isReady = true;
        place.readyAt = performance.now();
        resolve(reached);
        // It was given another while it was being built.
        if (configuration() !== given)
          line.ask('apply', { configuration: configuration() }).catch(() => this.renew(worker));
        return null;
      },
      failed: ({ problem }) => {
        reject(new WorkerStartError(problem));
        return null;
      },
    };
    const line = new Line({
      out: askedOfWorkers,
      in: askedOfPrimary,
      answerer,
      post: (message) => {
        if (process.isConnected()) process.send(message, ignore);
        return process.isConnected();
      },
    });
    process.on('message', (message: unknown) => line.take(message));
    const late = setTimeout(() => process.process.kill('SIGKILL'), limits.readyTimeoutMs);
    const ended = endOf(process, (problem) => {
      log.warn({ worker, problem }, 'a worker cannot be reached');
    }).then(({ code, signal }) => {
      clearTimeout(late);
      const how = signal ?? `exit code ${code}`;
      reject(new WorkerStartError(`worker ${worker} ended with ${how}; the log has its words`));
      this.#left(place, code, signal);
    });
    promise.then(() => clearTimeout(late), ignore);
    place.run = { process, line, ended };
    return promise;
  }

  #left(place: Place, code: number | null, signal: string | null): void {
    const { log, limits, onLeft } = this.#options;
    const { worker, run, isReady } = place;
    run?.line.close();
    place.run = null;
    place.isReady = false;
    onLeft(worker);
    if (this.#stopping) return;
    if (isReady && performance.now() - place.readyAt >= limits.healthyAfterMs) place.deaths = 0;
    const delay = Math.min(
      limits.restartDelayMinMs * 2 ** Math.min(place.deaths, 16),
      limits.restartDelayMaxMs,
    );
    place.deaths++;
    log.warn({ worker, code, signal, delay }, 'a worker ended; starting it again');
    place.timer = setTimeout(() => this.#restart(place), delay);
  }

  #restart(place: Place): void {
    const { log } = this.#options;
    const { worker } = place;
    this.#restarts++;
    this.#fork(place).then(
      () => log.info({ worker }, 'a worker is back'),
      (error: Error) => log.error({ worker, problem: error.message }, 'a worker did not come back'),
    );
  }
}

type End = Readonly<{ code: number | null; signal: string | null }>;

/** Resolves when a process has ended, or could not be begun: then it says neither that it ended nor how. */
function endOf(worker: Worker, onProblem: (problem: string) => void): Promise<End> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve({ code, signal }));
    worker.on('error', ({ message }) => {
      onProblem(message);
      if (worker.process.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}

/** Has a worker drain and end; whoever takes longer is killed. */
function tellToStop({ process, line, ended }: Run, timeoutMs: number): void {
  line.ask('stop', null).catch(ignore);
  const late = setTimeout(() => process.process.kill('SIGKILL'), timeoutMs);
  void ended.then(() => clearTimeout(late));
}

/** What could not be sent is not waited for either: its time ends, or its process does. */
const ignore = (): void => {};
