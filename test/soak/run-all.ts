import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { settingOf } from '../../bench/results.ts';
import { loggedIn } from './figures/logged.ts';
import { type Inside, ProcessWatch } from './figures/process-watch.ts';
import { Windows } from './figures/windows.ts';
import { type Outcome, outcomeOf } from './report/outcome.ts';
import type { SoakResult } from './report/soak-result.ts';
import {
  answersOutcome,
  descriptorsOutcome,
  isStarved,
  loggedOutcome,
  memoryOutcome,
} from './report/verdict.ts';
import { makeKnownWallets } from './surfaces/known-wallets.ts';
import { type OpenSurfaces, openSurfaces } from './surfaces/open-surfaces.ts';
import { type SoakedService, startSoakedService } from './surfaces/soaked-service.ts';
import type { Stretch } from './surfaces/surface.ts';

export type SoakOptions = Readonly<{
  minutes: number;
  /** How many times the ordinary load. */
  rate: number;
  slotMs: number;
  /** As it was typed, for the report. */
  command: string;
  say: (text: string) => void;
}>;

const GATEWAY = 'gateway';
const WALLETS = 10;
/** Until all that clients subscribed to is told. web3.js does not say when it listens. */
const SETTLED_MS = 3_000;
/** Slots until what was accepted is in a block, and until a slot is finalized: 32, and some more. */
const LANDED_SLOTS = 4;
const FINALIZED_MAX_MS = 120_000;
const MIB = 1024 * 1024;

/** What this process says of its own memory and event loop. */
function watchSelf(): () => Inside {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  return () => {
    const { heapUsed, external } = process.memoryUsage();
    const p99 = delay.percentile(99);
    delay.reset();
    return {
      ...{ heapMib: heapUsed / MIB, externalMib: external / MIB },
      loopDelayMs: Number.isFinite(p99) ? p99 / 1e6 : 0,
    };
  };
}

const slotOf = async ({ askLedger }: SoakedService, commitment: string): Promise<number> =>
  (await askLedger('getSlot', [{ commitment }])) as number;

async function untilFinalized(service: SoakedService, slot: number): Promise<void> {
  for (const until = performance.now() + FINALIZED_MAX_MS; performance.now() < until; await sleep(200)) {
    if ((await slotOf(service, 'finalized')) >= slot) return;
  }
}

type Loaded = Pick<SoakResult, 'seconds' | 'load' | 'gauges'> &
  Readonly<{ stretch: Stretch; processes: readonly ProcessWatch[] }>;

/** Has everything asked for as long as it was said. */
async function load(
  service: SoakedService,
  { all, metrics }: OpenSurfaces,
  { minutes, slotMs, say }: SoakOptions,
): Promise<Loaded> {
  const inside = watchSelf();
  const processes = [
    new ProcessWatch({
      ...{ name: GATEWAY, pid: () => service.running.process.pid ?? null },
      inside: () => metrics.inside,
    }),
    new ProcessWatch({ name: 'ledger', pid: service.ledgerPid, inside: () => null }),
    new ProcessWatch({ name: 'clients', pid: () => process.pid, inside }),
  ];
  const begun = await slotOf(service, 'processed');
  const paces = all.flatMap((surface) => surface.begin());
  const tallies = all.flatMap((surface) => surface.tallies);
  const ended = (second: number): void => {
    const rate = tallies.reduce((sum, tally) => sum + tally.lastRate, 0);
    const failed = tallies.reduce((sum, tally) => sum + tally.failures, 0);
    const memory = processes.map(
      ({ name, windows }) => `${name} ${Math.round(windows.at(-1)?.residentMib ?? 0)}`,
    );
    say(
      `${Math.round(second)} s: ${Math.round(rate)} answers and messages a second, ${failed} failed so far; MiB: ${memory.join(', ')}`,
    );
  };
  const windows = new Windows({ tallies, processes, gauges: (second) => metrics.gauges(second), ended });
  await sleep(minutes * 60_000);
  await Promise.all(paces.map((pace) => pace.stop()));
  const seconds = windows.stop();
  await sleep(LANDED_SLOTS * slotMs);
  const stretch = {
    ...{ begun, stopped: await slotOf(service, 'processed') },
    wasStarved: processes.some(({ name, figures }) => name === GATEWAY && isStarved(figures)),
  };
  return { seconds, stretch, processes, load: paces.map((pace) => pace.load), gauges: windows.gauges };
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

/** Puts all surfaces of the real program under load at once, and holds what they said against the ledger. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { say, rate, slotMs, command } = options;
  const service = await startSoakedService(slotMs);
  say('the service is up; wallets get what will be asked for, and wait to be finalized');
  const wallets = await makeKnownWallets(service.ask, WALLETS);
  const surfaces = await openSurfaces(service, wallets, rate);
  await sleep(SETTLED_MS);
  say(`under load for ${options.minutes} minutes`);
  const begunAt = new Date().toISOString();
  const { seconds, stretch, processes, ...loaded } = await load(service, surfaces, options);
  say('the load is over; what was told is held against the ledger');
  await untilFinalized(service, stretch.stopped);
  const told: Outcome[] = [];
  for (const surface of surfaces.all) told.push(...(await surface.judge(stretch)));
  for (const surface of surfaces.all) surface.close();
  const [ended, logged] = await stop(service);
  const tallies = surfaces.all.flatMap((surface) => surface.tallies.map(({ figures }) => figures));
  const ofService = processes.slice(0, 2);
  const outcomes = [
    ...tallies.filter(({ counted }) => counted === 'answers').map(answersOutcome),
    ...told,
    ...ofService.map(({ figures }) => memoryOutcome(figures, seconds)),
    ...ofService.map(({ figures }) => descriptorsOutcome(figures, seconds)),
    ...ofService.map(({ name, faults }) =>
      outcomeOf(`The ${name} runs all the time`, `${faults.length} faults`, faults),
    ),
    ...[loggedOutcome(logged), ended],
  ];
  return {
    ...{
      ...settingOf(command),
      begunAt,
      seconds,
      slots: stretch.stopped - stretch.begun,
      held: surfaces.held,
    },
    ...{ ...loaded, outcomes, tallies, processes: processes.map(({ figures }) => figures), logged },
  };
}
