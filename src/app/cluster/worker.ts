import cluster from 'node:cluster';
import type { Logger } from '../../base/log.ts';
import type { FileRoom } from '../../control/storage/file-room.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Configuration } from '../configuration.ts';
import { ConfigurationError } from '../configuration-errors.ts';
import type { Environment } from '../configuration-secrets.ts';
import { putHelpersBehind } from '../helper-threads.ts';
import { problemText } from '../problem-text.ts';
import { type Service, startService } from '../service.ts';
import { configurationOfWorker } from './configuration-of-worker.ts';
import { Line } from './line.ts';
import { LineExchange } from './line-exchange.ts';
import { NoAnswer } from './no-answer.ts';
import { type Answerer, askedOfPrimary, askedOfWorkers, type GivenSeat } from './questions.ts';
import { openRelayedShreds } from './relayed-shreds.ts';
import type { Seat, SeatWorks } from './seat.ts';

export type WorkerOptions = Readonly<{
  environment: Environment;
  openLog: (section: Configuration['log']) => Logger;
  /** The level that a section [log] stands for. */
  logLevelOf: (section: Configuration['log']) => string;
  /** Resolves when the process is to end, with why. */
  told: Promise<string>;
}>;

type PrimaryLine = Line<typeof askedOfPrimary, typeof askedOfWorkers>;

/** What this worker does when the primary asks, once it is built. */
class Works implements Answerer<typeof askedOfWorkers> {
  #works: SeatWorks | null = null;
  #page: (() => string) | null = null;
  readonly #stopped = Promise.withResolvers<string>();

  serve(works: SeatWorks): void {
    this.#works = works;
  }

  show(page: () => string): void {
    this.#page = page;
  }

  /** Resolves when the primary tells this worker to end. */
  get stopped(): Promise<string> {
    return this.#stopped.promise;
  }

  readonly stop = (): null => {
    this.#stopped.resolve('the primary says so');
    return null;
  };
  readonly refresh = async (): Promise<null> => {
    await this.#built.refresh();
    return null;
  };
  readonly page = (): string => {
    if (this.#page === null) throw new NoAnswer('this worker shows no metrics');
    return this.#page();
  };
  readonly check: Answerer<typeof askedOfWorkers>['check'] = (changes) => ({
    problems: [...this.#built.check(changes)],
  });
  readonly apply: Answerer<typeof askedOfWorkers>['apply'] = ({ configuration }) => {
    this.#built.apply(configuration);
    return null;
  };

  get #built(): SeatWorks {
    if (this.#works === null) throw new NoAnswer('this worker is not built yet');
    return this.#works;
  }
}

function openLine(answerer: Works): PrimaryLine {
  const line: PrimaryLine = new Line({
    out: askedOfPrimary,
    in: askedOfWorkers,
    answerer,
    post: (message) => {
      if (!process.connected) return false;
      process.send?.(message, undefined, undefined, () => {});
      return true;
    },
  });
  process.on('message', (message) => line.take(message));
  process.once('disconnect', () => line.close());
  return line;
}

const roomOf = (line: PrimaryLine): FileRoom => ({
  async take(cid, bytes) {
    const isRoom = await line.ask('room', { cid, bytes }).catch(() => null);
    if (isRoom === null) throw new Failure('STORAGE_UNAVAILABLE');
    if (!isRoom) throw new Failure('STORAGE_FULL');
  },
  settle: (cid, isKept) => void line.ask('settled', { cid, isKept }).catch(() => {}),
});

function seatOf(given: GivenSeat, line: PrimaryLine, works: Works): Seat {
  const { worker, workers, askers, configuration, ledger, shreds } = given;
  const { commandTimeoutMs } = configuration.shared;
  return {
    worker,
    partOf: (whole) => configurationOfWorker(whole, workers, askers),
    ledger,
    openShreds: (log) => (shreds === null ? null : openRelayedShreds(shreds, configuration, log)),
    limits: new LineExchange({
      isThere: () => !line.isClosed,
      run: (steps) => line.ask('limits', steps, commandTimeoutMs),
    }),
    room: roomOf(line),
    joinMetrics(own) {
      works.show(own);
      return () => line.ask('metrics', null);
    },
    async reload(by) {
      const { actor, address = null, userAgent = null, requestId = null } = by;
      const answer = await line.ask('reload', { actor, address, userAgent, requestId });
      if ('problems' in answer) throw new ConfigurationError(answer.problems);
      return answer;
    },
    serve: (built) => works.serve(built),
  };
}

/** What a log line names, so that it is known who says so. */
const logOf = ({ openLog }: WorkerOptions, { worker, configuration }: GivenSeat): Logger =>
  openLog(configuration.log).child({ worker });

/** Never rejects: the primary is told what was wrong. @returns null where it could not start. */
async function start(
  options: WorkerOptions,
  line: PrimaryLine,
  works: Works,
  log: Logger,
  given: GivenSeat,
): Promise<Service | null> {
  putHelpersBehind(given.workers);
  try {
    const service = await startService({
      configuration: given.configuration,
      environment: options.environment,
      // What there is one of is started by the primary.
      program: [process.execPath],
      log,
      rereading: { read: () => given.configuration, logLevelOf: options.logLevelOf },
      seat: seatOf(given, line, works),
    });
    const { url, grpcUrl, hasShredStage, isDevelopment, nodes } = service;
    // A primary that is gone by now is heard of otherwise.
    line.ask('ready', { url, grpcUrl, hasShredStage, isDevelopment, nodes: [...nodes] }).catch(() => {});
    return service;
  } catch (error) {
    await line.ask('failed', { problem: problemText(error) }).catch(() => {});
    return null;
  }
}

/**
 * Runs this process as one of several workers, until it is told to end or the primary is gone.
 * @returns whether it could be started.
 */
export async function runWorker(options: WorkerOptions): Promise<boolean> {
  // Node.js would end the process at once when the primary is gone: requests under way are to finish.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  // The primary has everything read again. Whoever tells the whole group must not end the workers by it.
  process.on('SIGHUP', () => {});
  const works = new Works();
  const line = openLine(works);
  const given = await line.ask('seat', null);
  const log = logOf(options, given);
  const service = await start(options, line, works, log, given);
  if (service === null) return false;
  const why = await Promise.race([options.told, works.stopped]);
  log.info({ why }, 'stopping');
  await service.stop();
  log.info('stopped');
  if (process.connected) process.disconnect();
  return true;
}
