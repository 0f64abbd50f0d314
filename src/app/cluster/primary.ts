import { rm } from 'node:fs/promises';
import type { Logger } from '../../base/log.ts';
import { MetricsText } from '../../base/metrics-text.ts';
import { makeFirstKeys, type PreparedStore, prepareStore } from '../access.ts';
import type { Configuration } from '../configuration.ts';
import { ConfigurationError } from '../configuration-errors.ts';
import { WORKERS_MAX } from '../configuration-schema.ts';
import { offChainFolder, openDataDir } from '../data-dir.ts';
import { openGround } from '../ground.ts';
import { LiveConfiguration } from '../live-configuration.ts';
import { firstOperatorLink } from '../operator-commands.ts';
import { problemText } from '../problem-text.ts';
import { Reload, type ReloadFollowers, type ReloadParts } from '../reload.ts';
import { checkPorts, type Service, type ServiceOptions } from '../service.ts';
import { stopEach } from '../stop-each.ts';
import { workerCount } from '../worker-count.ts';
import { configurationOfWorker } from './configuration-of-worker.ts';
import { joinMetrics } from './join-metrics.ts';
import { KeptLimits } from './kept-limits.ts';
import type { GivenSeat } from './questions.ts';
import { type ToldStage, tellStage } from './told-stage.ts';
import { type WorkerLimits, WorkerProcesses } from './worker-processes.ts';

/** How long a worker may take to show its metrics; the page is told without it then. */
const PAGE_MS = 2_000;
/** What a worker may take beyond the drain: to write what is counted, and to close what it has. */
const STOP_MARGIN_MS = 30_000;

const workerLimits = ({ server: { drainNoticeMs, drainGraceMs } }: Configuration): WorkerLimits => ({
  readyTimeoutMs: 120_000,
  restartDelayMinMs: 100,
  restartDelayMaxMs: 5_000,
  healthyAfterMs: 60_000,
  stopTimeoutMs: drainNoticeMs + drainGraceMs + STOP_MARGIN_MS,
});

/** Removes what workers kept of which there are fewer now. */
async function forgetFolders({ dataDir }: Configuration, workers: number): Promise<void> {
  for (let worker = workers + 1; worker <= WORKERS_MAX; worker++) {
    await rm(offChainFolder(dataDir, worker), { recursive: true, force: true });
  }
}

/** Has all workers check and take a configuration. */
function followersOf(processes: WorkerProcesses, log: Logger): ReloadFollowers {
  return {
    async check(changes) {
      const answers = await processes.askAll('check', {
        configuration: changes.configuration,
        restart: [...changes.restart],
      });
      return [...answers.values()].find(({ problems }) => problems.length > 0)?.problems ?? [];
    },
    async apply(configuration) {
      const taken = await processes.askAll('apply', { configuration });
      for (const worker of processes.readyWorkers) {
        if (taken.has(worker)) continue;
        log.error({ worker }, 'a worker did not take the configuration; it is started again');
        processes.renew(worker);
      }
    },
  };
}

/** The page of metrics of all workers. */
async function pageOf(
  processes: WorkerProcesses,
  workers: number,
  leftOut: { pages: number },
): Promise<string> {
  const pages = await processes.askAll('page', null, PAGE_MS);
  leftOut.pages += processes.readyWorkers.length - pages.size;
  const { user, system } = process.cpuUsage();
  const own = new MetricsText()
    .single('solway_workers', 'gauge', 'Workers that there are to be.', workers)
    .single('solway_workers_ready', 'gauge', 'Workers whose doors are open.', processes.readyWorkers.length)
    .single(
      'solway_worker_restarts_total',
      'counter',
      'Workers that died and were started again.',
      processes.restarts,
    )
    .single(
      'solway_worker_pages_missed_total',
      'counter',
      'Pages of metrics that came too late.',
      leftOut.pages,
    )
    .single(
      'solway_primary_cpu_seconds_total',
      'counter',
      'Processor time of the primary.',
      (user + system) / 1e6,
    )
    .single(
      'solway_primary_resident_memory_bytes',
      'gauge',
      'Memory of the primary.',
      process.memoryUsage.rss(),
    );
  return joinMetrics(pages, own.toString());
}

/** What workers are given, and what they ask. */
type House = Readonly<{
  options: ServiceOptions;
  workers: number;
  askers: number;
  prepared: PreparedStore;
  live: LiveConfiguration;
  place: Pick<GivenSeat, 'ledger' | 'shreds'>;
  inForce: ReloadParts['inForce'];
}>;

/** Builds what forks the workers and answers them, and what has the configuration read again. */
function buildProcesses({ options, workers, askers, prepared, live, place, inForce }: House) {
  const { log, rereading } = options;
  const limits = new KeptLimits();
  const leftOut = { pages: 0 };
  const processes: WorkerProcesses = new WorkerProcesses({
    workers,
    limits: workerLimits(live.current),
    configuration: () => live.current,
    answererOf: (worker) => ({
      seat: () => ({ worker, workers, askers, configuration: live.current, ...place }),
      limits: (steps) => limits.run(worker, steps),
      metrics: () => pageOf(processes, workers, leftOut),
      async reload(by) {
        try {
          const { changed, restart } = (await reload?.inTurn(by)) ?? { changed: [], restart: [] };
          return { changed: [...changed], restart: [...restart] };
        } catch (error) {
          if (error instanceof ConfigurationError) return { problems: [...error.problems] };
          throw error;
        }
      },
    }),
    onLeft: (worker) => limits.left(worker),
    log,
  });
  const { store } = prepared;
  const followers = followersOf(processes, log);
  const reload = rereading && new Reload({ live, rereading, store, inForce, log, followers });
  return { processes, reload };
}

const nobodyInForce: ReloadParts['inForce'] = { addedNames: [], setFile: () => {} };

/**
 * Starts a service of several processes: this one, the primary, serves nobody, and has what there is one of; the
 * workers, each a whole gateway, answer at the same doors.
 * @throws what `startService` throws; WorkerStartError.
 */
export async function startCluster(options: ServiceOptions): Promise<Service> {
  const { configuration, environment, program, log } = options;
  const workers = workerCount(configuration);
  const stops: (() => Promise<unknown>)[] = [];
  const stop = () => stopEach(stops.splice(0).reverse());
  try {
    await checkPorts(configuration);
    await openDataDir(configuration.dataDir);
    await forgetFolders(configuration, workers);
    const prepared = await prepareStore(configuration, environment, log);
    stops.push(() => prepared.store.close());
    const { shreds, ledger } = await openGround(configuration, program, log, stops);
    const askers = shreds === null ? workers : workers + 1;
    const live = new LiveConfiguration(configuration, (whole) =>
      configurationOfWorker(whole, workers, askers),
    );
    const told: ToldStage | null =
      shreds === null ? null : await tellStage(live.view, shreds, ledger, prepared, log, stops);
    const place = { ledger, shreds: told?.place ?? null };
    const inForce = told?.inForce ?? nobodyInForce;
    const { processes, reload } = buildProcesses({
      options,
      workers,
      askers,
      prepared,
      live,
      place,
      inForce,
    });
    stops.push(() => processes.stop());
    const reached = await processes.start();
    const newKeys = await makeFirstKeys(prepared, configuration);
    if (newKeys.length > 0) await processes.askAll('refresh', null);
    const setupUrl = await firstOperatorLink(configuration, prepared.store, reached.url);
    return {
      ...{ ...reached, newKeys, setupUrl, stop },
      async reload() {
        await reload?.forSignal();
        // They read their certificates again.
        processes.signal('SIGHUP');
      },
    };
  } catch (error) {
    await stop().catch((failure: unknown) => {
      log.warn({ problem: problemText(failure) }, 'not everything could be stopped');
    });
    throw error;
  }
}
