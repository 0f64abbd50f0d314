import { rm } from 'node:fs/promises';
import type { ReloadedBy } from '../../control/api/services.ts';
import { type CountedFiles, openCountedFiles } from '../../control/storage/open-storage.ts';
import { makeFirstKeys, type PreparedStore, prepareStore } from '../access.ts';
import type { Configuration } from '../configuration.ts';
import { ConfigurationError } from '../configuration-errors.ts';
import { WORKERS_MAX } from '../configuration-schema.ts';
import { filesFolder, offChainFolder, openDataDir } from '../data-dir.ts';
import { startsInDevelopment } from '../development-mode.ts';
import { openGround } from '../ground.ts';
import { LiveConfiguration } from '../live-configuration.ts';
import { firstOperatorLink } from '../operator-commands.ts';
import { problemText } from '../problem-text.ts';
import { Reload, type ReloadParts } from '../reload.ts';
import { openReloadSocket } from '../reload-socket.ts';
import { checkPorts, type Service, type ServiceOptions } from '../service.ts';
import { stopEach } from '../stop-each.ts';
import { workerCount } from '../worker-count.ts';
import { configurationOfWorker } from './configuration-of-worker.ts';
import { JoinedPage } from './joined-page.ts';
import { KeptLimits } from './kept-limits.ts';
import type { GivenSeat } from './questions.ts';
import { SharedRoom } from './shared-room.ts';
import { tellStage } from './told-stage.ts';
import { workerFollowers } from './worker-followers.ts';
import { type WorkerLimits, WorkerProcesses } from './worker-processes.ts';

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

/** Counts the files that are stored on this machine. @returns null where another keeps them. */
async function countFiles({ dataDir, kubo, storage }: Configuration): Promise<CountedFiles | null> {
  if (kubo.url !== null) return null;
  return openCountedFiles({ folder: filesFolder(dataDir), uriPrefix: () => '', limits: storage });
}

type Stops = (() => Promise<unknown>)[];

/** What there is one of, for all workers. */
type House = Readonly<{
  options: ServiceOptions;
  workers: number;
  /** What all workers are given alike. */
  place: Omit<GivenSeat, 'worker' | 'configuration'>;
  prepared: PreparedStore;
  live: LiveConfiguration;
  inForce: ReloadParts['inForce'];
  files: CountedFiles | null;
}>;

/** Opens what there is one of. @param stops - gets what ends it. */
async function openHouse(options: ServiceOptions, workers: number, stops: Stops): Promise<House> {
  const { configuration, environment, program, log } = options;
  await checkPorts(configuration);
  await openDataDir(configuration.dataDir);
  await forgetFolders(configuration, workers);
  const prepared = await prepareStore(configuration, environment, log);
  stops.push(() => prepared.store.close());
  const files = await countFiles(configuration);
  if (files !== null) stops.push(files.close);
  const isDevelopment = await startsInDevelopment(configuration, prepared.store, log);
  const { shreds, ledger } = await openGround(configuration, isDevelopment, program, log, stops);
  const askers = shreds === null ? workers : workers + 1;
  const partOf = (whole: Configuration) => configurationOfWorker(whole, workers, askers);
  const live = new LiveConfiguration(configuration, partOf);
  const told = shreds === null ? null : await tellStage(live.view, shreds, ledger, prepared, log, stops);
  const inForce = told?.inForce ?? { addedNames: [], setFile: () => {} };
  const place = { workers, askers, ledger, shreds: told?.place ?? null };
  return { options, workers, place, prepared, live, inForce, files };
}

type Workers = Readonly<{ processes: WorkerProcesses; reload: Reload | undefined }>;

/** Builds what starts the workers and answers them, and what has the configuration read again. */
function buildWorkers({ options, workers, place, prepared, live, inForce, files }: House): Workers {
  const { log, rereading } = options;
  const limits = new KeptLimits();
  const room = files === null ? null : new SharedRoom(files.kept);
  const processes = new WorkerProcesses({
    workers,
    limits: workerLimits(live.current),
    configuration: () => live.current,
    answererOf: (worker) => ({
      seat: () => ({ ...place, worker, configuration: live.current }),
      limits: (steps) => limits.run(worker, steps),
      metrics: () => page.read(),
      room: ({ cid, bytes }) => room === null || room.take(worker, cid, bytes),
      settled({ cid, isKept }) {
        room?.settle(worker, cid, isKept);
        return null;
      },
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
    onLeft(worker) {
      limits.left(worker);
      room?.left(worker).catch((error: unknown) => {
        log.warn({ problem: problemText(error) }, 'what a worker was storing is not known');
      });
    },
    log,
  });
  const page = new JoinedPage(processes, workers);
  const { store } = prepared;
  const followers = workerFollowers(processes, log);
  const reload = rereading && new Reload({ live, rereading, store, inForce, log, followers });
  return { processes, reload };
}

/**
 * Starts a service of several processes: this one, the primary, serves nobody, and has what there is one of; the
 * workers, each a whole gateway, answer at the same doors.
 * @throws what `startService` throws; WorkerStartError.
 */
export async function startCluster(options: ServiceOptions): Promise<Service> {
  const { configuration, log } = options;
  const stops: Stops = [];
  const stop = () => stopEach(stops.splice(0).reverse());
  try {
    const house = await openHouse(options, workerCount(configuration), stops);
    const { store } = house.prepared;
    const { processes, reload } = buildWorkers(house);
    stops.push(() => processes.stop());
    const reached = await processes.start(store.schemaFound === 0);
    const newKeys = await makeFirstKeys(house.prepared, configuration);
    if (newKeys.length > 0) await processes.askAll('refresh', null);
    const setupUrl = await firstOperatorLink(configuration, store, reached.url);
    const reloader = reload && ((by: ReloadedBy) => reload.forCaller(by));
    stops.push(await openReloadSocket(configuration.dataDir, reloader, log));
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
