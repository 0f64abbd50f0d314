import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { settingOf } from '../../bench/results.ts';
import { loggedIn } from './figures/logged.ts';
import type { ProcessWatch } from './figures/process-watch.ts';
import type { Tally } from './figures/tally.ts';
import { Windows } from './figures/windows.ts';
import { type Outcome, outcomeOf } from './report/outcome.ts';
import {
  answersOutcome,
  descriptorsOutcome,
  endsOutcome,
  isStarved,
  loggedOutcome,
  memoryOutcome,
  releasedOutcome,
} from './report/outcomes.ts';
import type { SoakResult } from './report/soak-result.ts';
import { createFundedWallets } from './surfaces/funded-wallets.ts';
import { type OpenSurfaces, openSurfaces } from './surfaces/open-surfaces.ts';
import { type SoakedService, startSoakedService } from './surfaces/soaked-service.ts';
import type { Stretch, Surface } from './surfaces/surface.ts';
import {
  countAgain,
  type WatchedProcesses,
  watchEmpty,
  watchListening,
  watchProcesses,
} from './surfaces/watched-processes.ts';

export type SoakOptions = Readonly<{
  minutes: number;
  /** Multiple of the usual load. */
  rate: number;
  slotMs: number;
  /** For the report. */
  command: string;
  say: (text: string) => void;
}>;

const WALLETS = 10;
/** Until all subscriptions are active. web3.js does not report when. */
const SETTLED_MS = 3_000;
/** Slots until an accepted transaction is in a block. */
const LANDED_SLOTS = 4;
const FINALIZED_MAX_MS = 120_000;

const slotOf = async ({ requestLedger }: SoakedService, commitment: string): Promise<number> =>
  (await requestLedger('getSlot', [{ commitment }])) as number;

async function untilFinalized(service: SoakedService, slot: number): Promise<void> {
  for (const until = performance.now() + FINALIZED_MAX_MS; performance.now() < until; await sleep(200)) {
    if ((await slotOf(service, 'finalized')) >= slot) return;
  }
}

const processesOf = ({ gateway, ledger, clients }: WatchedProcesses): ProcessWatch[] => [
  ...[gateway, ledger, clients],
];

function progressOf(second: number, tallies: readonly Tally[], processes: readonly ProcessWatch[]): string {
  const rate = tallies.reduce((sum, tally) => sum + tally.lastRate, 0);
  const failed = tallies.reduce((sum, tally) => sum + tally.failures, 0);
  const memory = processes.map(
    ({ name, windows }) => `${name} ${Math.round(windows.at(-1)?.residentMib ?? 0)}`,
  );
  const all = `${Math.round(rate)} responses and messages per second, ${failed} failed so far`;
  return `${Math.round(second)} s: ${all}; MiB: ${memory.join(', ')}`;
}

type Loaded = Pick<SoakResult, 'seconds' | 'load' | 'gauges'> & Readonly<{ processes: WatchedProcesses }>;

/** Runs the load for the configured time, or until the gateway exits. */
async function load(
  service: SoakedService,
  surfaces: OpenSurfaces,
  { minutes, say }: SoakOptions,
): Promise<Loaded> {
  const watched = watchProcesses(service, surfaces);
  const processes = processesOf(watched);
  const paces = surfaces.all.flatMap((surface) => surface.start());
  const tallies = surfaces.all.flatMap((surface) => surface.tallies);
  const windows = new Windows({
    ...{ tallies, watches: Object.values(watched) },
    gauges: (second) => surfaces.metrics.gauges(second),
    ended: (second) => say(progressOf(second, tallies, processes)),
  });
  const isOver = new AbortController();
  await Promise.race([
    sleep(minutes * 60_000, undefined, { signal: isOver.signal }).catch(() => {}),
    once(service.running.process, 'exit', { signal: isOver.signal }).catch(() => {}),
  ]);
  isOver.abort();
  const stopped = Promise.all(paces.map((pace) => pace.stop()));
  // Before the last responses: nothing is sent while they are pending.
  const seconds = windows.stop();
  await stopped;
  return { seconds, processes: watched, load: paces.map((pace) => pace.load), gauges: windows.gauges };
}

/** Compares what an interface reported with the ledger; a failed comparison is a broken promise. */
async function checkOutcomes(surface: Surface, stretch: Stretch): Promise<readonly Outcome[]> {
  const promise = `${surface.tallies.map(({ name }) => name).join(', ')}: notifications can be compared with the ledger`;
  try {
    return await surface.check(stretch);
  } catch (fault) {
    return [outcomeOf(promise, 'the comparison failed', [String(fault)])];
  }
}

/** Compares all interfaces with the ledger. */
async function checkAll(
  service: SoakedService,
  surfaces: OpenSurfaces,
  stretch: Stretch,
): Promise<Outcome[]> {
  await untilFinalized(service, stretch.stopped).catch(() => {});
  const reported: Outcome[] = [];
  for (const surface of surfaces.all) reported.push(...(await checkOutcomes(surface, stretch)));
  return reported;
}

/** Stops the service. @returns whether it exited normally, and its log. */
async function stop({ running }: SoakedService): Promise<readonly [Outcome, ReturnType<typeof loggedIn>]> {
  const code = await running.stop();
  const outcome = outcomeOf(
    'The service exits normally on SIGTERM',
    `exit code ${code}`,
    code === 0 ? [] : [`exit code ${code}`],
  );
  return [outcome, loggedIn(running.output())];
}

/** Memory, descriptors and uptime of the processes. */
function processOutcomes(
  { gateway, ledger, ends }: WatchedProcesses,
  seconds: number,
  wasStarved: boolean,
): Outcome[] {
  const ofService = [gateway, ledger];
  return [
    ...ofService.map(({ figures }) => memoryOutcome(figures, seconds, wasStarved)),
    ...ofService.map(({ figures }) => descriptorsOutcome(figures, seconds)),
    endsOutcome(ends.windows, gateway.figures.windows, seconds),
    ...ofService.map(({ name, faults }) =>
      outcomeOf(`The ${name} runs without interruption`, `${faults.length} faults`, faults),
    ),
  ];
}

/** Puts load on all interfaces of the program at once and compares their responses with the ledger. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { say, rate, slotMs, command } = options;
  const service = await startSoakedService(slotMs);
  say('service started; counting descriptors without clients');
  const empty = await watchEmpty(service);
  say('funding wallets and waiting for finality');
  const wallets = await createFundedWallets(service.request, WALLETS);
  const surfaces = await openSurfaces(service, wallets, rate);
  await sleep(SETTLED_MS);
  say('subscribed; counting descriptors with idle clients');
  const listening = await watchListening(service);
  say(`under load for ${options.minutes} minutes`);
  const begunAt = new Date().toISOString();
  const begun = await slotOf(service, 'processed');
  const { processes, ...loaded } = await load(service, surfaces, options);
  say('load finished; comparing with the ledger');
  await sleep(LANDED_SLOTS * slotMs);
  // A ledger that exited with its gateway does not respond: estimate the slot from the time.
  const { seconds } = loaded;
  const stopped = await slotOf(service, 'processed').catch(
    () => begun + Math.ceil((seconds * 1_000) / slotMs),
  );
  const figures = processesOf(processes).map((one) => one.figures);
  const wasStarved = figures.some(isStarved);
  const reported = await checkAll(service, surfaces, { started: begun, stopped, wasStarved });
  service.close();
  const whileListening = await countAgain(listening);
  for (const surface of surfaces.all) surface.close();
  const whenGone = await countAgain(empty);
  const [ended, logged] = await stop(service);
  const tallies = surfaces.all.flatMap((surface) => surface.tallies.map((tally) => tally.figures));
  const outcomes = [
    ...tallies.filter(({ counted }) => counted === 'answers').map(answersOutcome),
    ...[...reported, ...processOutcomes(processes, seconds, wasStarved)],
    ...[...whileListening, ...whenGone].map(releasedOutcome),
    ...[loggedOutcome(logged), ended],
  ];
  return {
    ...{ ...settingOf(command), begunAt, slots: stopped - begun, held: surfaces.held },
    ...{ ...loaded, outcomes, tallies, processes: figures, logged },
  };
}
