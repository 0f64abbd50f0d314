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
  givenBackOutcome,
  isStarved,
  loggedOutcome,
  memoryOutcome,
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
  /** How many times the ordinary load. */
  rate: number;
  slotMs: number;
  /** As it was typed, for the report. */
  command: string;
  say: (text: string) => void;
}>;

const WALLETS = 10;
/** Until all that clients subscribed to is told. web3.js does not say when it listens. */
const SETTLED_MS = 3_000;
/** Slots until what was accepted is in a block. */
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
  const all = `${Math.round(rate)} answers and messages a second, ${failed} failed so far`;
  return `${Math.round(second)} s: ${all}; MiB: ${memory.join(', ')}`;
}

type Loaded = Pick<SoakResult, 'seconds' | 'load' | 'gauges'> & Readonly<{ processes: WatchedProcesses }>;

/** Has everything asked for as long as it was said, or until the gateway dies. */
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
  // Before the last answers are there: while they are waited for nothing is asked.
  const seconds = windows.stop();
  await stopped;
  return { seconds, processes: watched, load: paces.map((pace) => pace.load), gauges: windows.gauges };
}

/** Holds what a surface said against the ledger; where that cannot be done, a promise is broken. */
async function checkOutcomes(surface: Surface, stretch: Stretch): Promise<readonly Outcome[]> {
  const promise = `${surface.tallies.map(({ name }) => name).join(', ')}: what was told can be held against the ledger`;
  try {
    return await surface.check(stretch);
  } catch (fault) {
    return [outcomeOf(promise, 'it cannot', [String(fault)])];
  }
}

/** What was told while all was under load, held against the ledger. */
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

/** Ends the service, and says whether it went as it should and what it logged. */
async function stop({ running }: SoakedService): Promise<readonly [Outcome, ReturnType<typeof loggedIn>]> {
  const code = await running.stop();
  const outcome = outcomeOf(
    'The service ends when it is told to',
    `exit code ${code}`,
    code === 0 ? [] : [`it ended with ${code}`],
  );
  return [outcome, loggedIn(running.output())];
}

/** What came of the processes: their memory, what they have open, and whether they were there all the time. */
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
      outcomeOf(`The ${name} runs all the time`, `${faults.length} faults`, faults),
    ),
  ];
}

/** Puts all surfaces of the real program under load at once, and holds what they said against the ledger. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { say, rate, slotMs, command } = options;
  const service = await startSoakedService(slotMs);
  say('the service is up; what it has open while nobody is there is counted');
  const empty = await watchEmpty(service);
  say('wallets get what will be asked for, and wait to be finalized');
  const wallets = await createFundedWallets(service.request, WALLETS);
  const surfaces = await openSurfaces(service, wallets, rate);
  await sleep(SETTLED_MS);
  say('clients listen; what the service has open for them is counted');
  const listening = await watchListening(service);
  say(`under load for ${options.minutes} minutes`);
  const begunAt = new Date().toISOString();
  const begun = await slotOf(service, 'processed');
  const { processes, ...loaded } = await load(service, surfaces, options);
  say('the load is over; what was told is held against the ledger');
  await sleep(LANDED_SLOTS * slotMs);
  // A ledger that died with its gateway says nothing: then it has as many slots as there was time for.
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
    ...[...whileListening, ...whenGone].map(givenBackOutcome),
    ...[loggedOutcome(logged), ended],
  ];
  return {
    ...{ ...settingOf(command), begunAt, slots: stopped - begun, held: surfaces.held },
    ...{ ...loaded, outcomes, tallies, processes: figures, logged },
  };
}
