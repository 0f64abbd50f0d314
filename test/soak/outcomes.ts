import { setTimeout as sleep } from 'node:timers/promises';
import { type Gauge, growthOf, median } from '../programs/process-stats.ts';
import type { Tally } from './tally.ts';

export type Outcome = Readonly<{
  promise: string;
  /** null: the run cannot determine it. */
  isFulfilled: boolean | null;
  /** The measured figures. */
  found: string;
  /** The first few faults that broke the promise. */
  faults: readonly string[];
}>;

const FAULTS_SHOWN = 10;

/** A promise that holds if there are no faults. */
export const outcomeOf = (promise: string, found: string, faults: readonly string[]): Outcome => ({
  ...{ promise, found, isFulfilled: faults.length === 0 },
  faults:
    faults.length > FAULTS_SHOWN
      ? [...faults.slice(0, FAULTS_SHOWN), `and ${faults.length - FAULTS_SHOWN} more`]
      : faults,
});

/** A promise that the run cannot evaluate. */
export const notEvaluated = (promise: string, why: string): Outcome => ({
  ...{ promise, isFulfilled: null, found: `not judged: ${why}`, faults: [] },
});

export const isWhole = (outcomes: readonly Outcome[]): boolean =>
  outcomes.every(({ isFulfilled }) => isFulfilled !== false);

/** Samples are evaluated by the median of ten seconds. */
const WINDOW_S = 10;
/** Maximum ratio of the later half of the samples to the earlier half, including noise. */
const GROWTH_MAX = 1.15;
/** Figures settle at the start: this share of the run, and at least this time, is not evaluated. */
const SETTLING_SHARE = 0.2;
const SETTLING_MIN_S = 60;
const WINDOWS_MIN = 6;
const TOO_SHORT = 'the run was too short';
/** A process that waits longer than this for a CPU collects garbage and reads sockets late. */
const STARVED_SHARE = 0.5;
/** The minimum of open descriptors varies with connections; in the later half it may be this much higher. */
const DESCRIPTORS_MORE_MAX = 10;
/** The maximum may be this much higher, because clients open connections when the machine stalls. A leak exceeds it. */
const DESCRIPTORS_HUMP_MAX = 256;
/** Connections that are being opened or closed may exist at one end only, up to this number. */
const ENDS_APART_MAX = 5;
const ENDS_DRIFT_MAX = 2;
/** Additional descriptors that may remain open when idle: one for a request in flight. */
const IDLE_MORE_MAX = 1;
const LOOK_MS = 250;

/** Medians of ten-second windows. */
const windows = (samples: readonly number[]): number[] =>
  Array.from({ length: Math.ceil(samples.length / WINDOW_S) }, (_, at) =>
    median(samples.slice(at * WINDOW_S, (at + 1) * WINDOW_S)),
  );

/** The windows after settling; none if the run is short. */
function settled(samples: readonly number[]): number[] {
  const from = Math.ceil(Math.max(SETTLING_MIN_S, samples.length * SETTLING_SHARE) / WINDOW_S);
  const evaluated = windows(samples).slice(from);
  return evaluated.length < WINDOWS_MIN ? [] : evaluated;
}

const halves = (values: readonly number[]): readonly [number[], number[]] => {
  const half = Math.floor(values.length / 2);
  return [values.slice(0, half), values.slice(half)];
};

/** Whether a process had to wait for CPUs, so that its figures reflect the machine. */
export const isStarved = (waitedMsEach: readonly number[]): boolean =>
  windows(waitedMsEach).some((ms) => ms > STARVED_SHARE * 1_000);

/** @param wasStarved - whether any process was starved, so that queues and garbage occupy memory. */
export function memoryOutcome(name: string, memoryMib: readonly number[], wasStarved: boolean): Outcome {
  const promise = `Memory of the ${name} is flat: later half at most ${GROWTH_MAX} times the earlier half`;
  const mib = settled(memoryMib);
  if (mib.length === 0) return notEvaluated(promise, TOO_SHORT);
  const growth = growthOf(mib);
  const found = `${growth.toFixed(3)} times; ${Math.min(...mib)} to ${Math.max(...mib)} MiB`;
  if (growth > GROWTH_MAX && wasStarved)
    return notEvaluated(promise, `processes waited for processors; ${found}`);
  return outcomeOf(promise, found, growth > GROWTH_MAX ? [`it grew by ${growth.toFixed(3)}`] : []);
}

/** Whether open files and sockets of a process accumulate under load. */
export function descriptorsOutcome(name: string, descriptors: readonly number[]): Outcome {
  const promise = `Open files and sockets of the ${name} do not accumulate`;
  const open = settled(descriptors);
  if (open.length === 0) return notEvaluated(promise, TOO_SHORT);
  const [earlier, later] = halves(open);
  const more = Math.min(...later) - Math.min(...earlier);
  const higher = Math.max(...later) - Math.max(...earlier);
  return outcomeOf(promise, `${Math.min(...open)} to ${Math.max(...open)} open`, [
    ...(more > DESCRIPTORS_MORE_MAX ? [`minimum ${more} higher in the later half`] : []),
    ...(higher > DESCRIPTORS_HUMP_MAX ? [`maximum ${higher} higher in the later half`] : []),
  ]);
}

/**
 * Whether connections remain open at one end only. A connection adds one socket to each end, so the difference of the
 * counts changes only if a connection is open at one end only.
 * @param own - descriptors of a process. @param others - those of the processes at the other ends of its connections.
 */
export function endsOutcome(own: readonly number[], others: readonly (readonly number[])[]): Outcome {
  const promise =
    'No connection is open at one end only: descriptors of the gateway beyond those of clients and ledger are constant';
  const required = settled(own).length;
  if (required === 0) return notEvaluated(promise, TOO_SHORT);
  const counted = own.filter((_, at) => others.every((other) => at < other.length));
  const beyond = settled(
    counted.map((open, at) => others.reduce((left, other) => left - (other[at] ?? 0), open)),
  );
  if (beyond.length < required)
    return outcomeOf(promise, 'unknown', [`counted ${beyond.length} of ${required} times`]);
  const [earlier, later] = halves(beyond);
  const drift = Math.abs(median(later) - median(earlier));
  const usual = median(beyond);
  const apart = Math.max(...beyond.map((count) => Math.abs(count - usual)));
  return outcomeOf(promise, `${Math.min(...beyond)} to ${Math.max(...beyond)}, usually ${usual}`, [
    ...(apart > ENDS_APART_MAX ? [`${apart} apart from the usual`] : []),
    ...(drift > ENDS_DRIFT_MAX ? [`later half ${drift} apart from the earlier half`] : []),
  ]);
}

export const uptimeOutcome = (name: string, { isGone }: Gauge): Outcome =>
  outcomeOf(`The ${name} runs without interruption`, isGone ? 'it ended' : 'it did', isGone ? ['ended'] : []);

/**
 * Counts open files and sockets of a process now, and again once it should have released them.
 * @param when - such as `after all clients disconnected`.
 * @param count - throws if the process has ended.
 * @returns the second count; it waits for a limited time until there are no more than before.
 */
export function watchReleased(
  name: string,
  when: string,
  count: () => number,
  closedWithinMs: number,
): () => Promise<Outcome> {
  const promise = `The ${name} releases files and sockets: ${when}, at most ${IDLE_MORE_MAX} more than before is open`;
  const before = count();
  return async () => {
    try {
      const until = performance.now() + closedWithinMs;
      while (count() > before && performance.now() < until) await sleep(LOOK_MS);
      const more = count() - before;
      const found = `${before} before, ${before + more} after`;
      return outcomeOf(promise, found, more > IDLE_MORE_MAX ? [`${more} more`] : []);
    } catch {
      return outcomeOf(promise, 'unknown', ['the process ended']);
    }
  };
}

export function answersOutcome({ name, count, refused, failed, errors, wrong, wrongTexts }: Tally): Outcome {
  const faults = [...Object.entries(failed).map(([code, times]) => `${times} times ${code}`), ...wrongTexts];
  return outcomeOf(
    `${name}: every request gets a right response`,
    `${count} responses, ${refused} of them expected errors; ${errors} errors, ${wrong} wrong`,
    count === 0 ? [...faults, 'no response'] : faults,
  );
}

/** Whether the log of the service, in pino's format, is free of errors. */
export function loggedOutcome(output: string): Outcome {
  const messages = (level: number): string[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith(`{"level":${level}`))
      .map((line) => (JSON.parse(line) as { msg?: string }).msg ?? '');
  const errors = [...messages(50), ...messages(60)];
  const found = `${errors.length} errors, ${messages(40).length} warnings`;
  const times = Map.groupBy(errors, (message) => message);
  return outcomeOf(
    'The service logs no error',
    found,
    [...times].map(([message, all]) => `${all.length} times: ${message}`),
  );
}
