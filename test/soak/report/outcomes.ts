import { growthOf, median } from '../../programs/process-stats.ts';
import type { EndsWindow } from '../figures/ends-watch.ts';
import type { IdleCount } from '../figures/idle-count-watch.ts';
import type { ProcessFigures } from '../figures/process-watch.ts';
import type { TallyFigures } from '../figures/tally.ts';
import { countText } from './count-text.ts';
import { notEvaluated, type Outcome, outcomeOf } from './outcome.ts';
import type { Logged } from './soak-result.ts';

/** Later half of the samples in relation to the earlier half, with noise. */
const GROWTH_MAX = 1.15;
/** Memory settles at the start: this share of the run, and at least this time, is not judged. */
const SETTLING_SHARE = 0.2;
const SETTLING_MIN_S = 60;
const WINDOWS_MIN = 6;
const TOO_SHORT = 'the run was too short';
/** A process that waits longer for a processor collects garbage and reads sockets late. */
const STARVED_SHARE = 0.5;
/** Minima of open descriptors vary with connections; the later half may be this much higher. */
const DESCRIPTORS_MORE_MAX = 10;
/** Maxima may be this much higher: clients open connections when the machine stalls. A leak exceeds it. */
const DESCRIPTORS_HUMP_MAX = 256;
/** Connections that are being opened or closed may exist at one end only. */
const ENDS_APART_MAX = 5;
const ENDS_DRIFT_MAX = 2;
/** Descriptors that may remain when idle: one for a request in flight. */
const IDLE_MORE_MAX = 1;

/** Windows after settling; none for a short run. */
function settled<Window extends { from: number }>(windows: readonly Window[], seconds: number): Window[] {
  const from = Math.max(SETTLING_MIN_S, seconds * SETTLING_SHARE);
  const judged = windows.filter((window) => window.from >= from);
  return judged.length < WINDOWS_MIN ? [] : judged;
}

const halves = (values: readonly number[]): readonly [number[], number[]] => {
  const half = Math.floor(values.length / 2);
  return [values.slice(0, half), values.slice(half)];
};

/** Whether a process had to wait for processors: then its figures show the machine. */
export const isStarved = ({ windows }: ProcessFigures): boolean =>
  windows.some(({ waitedShare }) => waitedShare > STARVED_SHARE);

/** @param wasStarved - whether any process was starved: queues and garbage then occupy memory. */
export function memoryOutcome(
  { name, windows }: ProcessFigures,
  seconds: number,
  wasStarved: boolean,
): Outcome {
  const promise = `Memory of the ${name} is flat: later half at most ${GROWTH_MAX} times the earlier half`;
  const mib = settled(windows, seconds).map(({ residentMib }) => residentMib);
  if (mib.length === 0) return notEvaluated(promise, TOO_SHORT);
  const growth = growthOf(mib);
  const found = `${growth.toFixed(3)} times; ${Math.round(Math.min(...mib))} to ${Math.round(Math.max(...mib))} MiB`;
  if (growth <= GROWTH_MAX) return outcomeOf(promise, found, []);
  return wasStarved
    ? notEvaluated(promise, `processes waited for processors; ${found}`)
    : outcomeOf(promise, found, [`it grew by ${growth.toFixed(3)}`]);
}

/** Whether files and sockets of a process accumulate under load. */
export function descriptorsOutcome({ name, windows }: ProcessFigures, seconds: number): Outcome {
  const promise = `Open files and sockets of the ${name} do not accumulate`;
  const open = settled(windows, seconds).map(({ descriptors }) => descriptors);
  if (open.length === 0) return notEvaluated(promise, TOO_SHORT);
  const [earlier, later] = halves(open);
  const more = Math.min(...later) - Math.min(...earlier);
  const higher = Math.max(...later) - Math.max(...earlier);
  const faults = [
    ...(more > DESCRIPTORS_MORE_MAX ? [`minimum ${more} higher in the later half`] : []),
    ...(higher > DESCRIPTORS_HUMP_MAX ? [`maximum ${higher} higher in the later half`] : []),
  ];
  return outcomeOf(promise, `${Math.min(...open)} to ${Math.max(...open)} open`, faults);
}

/**
 * Whether connections remain open at one end only.
 * @param counted - windows of the process itself: each needs a count of connection ends.
 */
export function endsOutcome(
  windows: readonly EndsWindow[],
  counted: ProcessFigures['windows'],
  seconds: number,
): Outcome {
  const promise =
    'No connection is open at one end only: descriptors of the gateway beyond those of clients and ledger are constant';
  const required = settled(counted, seconds).length;
  if (required === 0) return notEvaluated(promise, TOO_SHORT);
  const beyond = settled(windows, seconds).map((window) => window.beyond);
  if (beyond.length < required)
    return outcomeOf(promise, 'unknown', [`counted ${beyond.length} of ${required} times`]);
  const [earlier, later] = halves(beyond);
  const drift = Math.abs(median(later) - median(earlier));
  const usual = median(beyond);
  const apart = Math.max(...beyond.map((count) => Math.abs(count - usual)));
  const found = `${Math.min(...beyond)} to ${Math.max(...beyond)}, usually ${usual}`;
  const faults = [
    ...(apart > ENDS_APART_MAX ? [`${apart} apart from the usual`] : []),
    ...(drift > ENDS_DRIFT_MAX ? [`later half ${drift} apart from the earlier half`] : []),
  ];
  return outcomeOf(promise, found, faults);
}

/** Whether a process released what it had opened for clients. */
export function releasedOutcome({ name, when, before, after }: IdleCount): Outcome {
  const promise = `The ${name} releases files and sockets: ${when}, at most ${IDLE_MORE_MAX} more than before is open`;
  if (before === null || after === null)
    return outcomeOf(promise, 'unknown', ['descriptors could not be counted, or the process ended']);
  const more = after - before;
  return outcomeOf(promise, `${before} before, ${after} after`, more > IDLE_MORE_MAX ? [`${more} more`] : []);
}

/** Whether every request to an interface got a right response. */
export function answersOutcome({ name, count, failed, refused, wrong, wrongTexts }: TallyFigures): Outcome {
  const codes = Object.entries(failed);
  const errors = codes.reduce((sum, [, times]) => sum + times, 0);
  const expected = Object.values(refused).reduce((sum, times) => sum + times, 0);
  const besides = expected === 0 ? '' : ` (${countText(expected)} of them expected errors)`;
  const faults = [...codes.map(([code, times]) => `${times} times ${code}`), ...wrongTexts];
  return outcomeOf(
    `${name}: every request gets a right response`,
    `${countText(count)} responses${besides}, ${countText(errors)} errors, ${countText(wrong)} wrong`,
    count === 0 ? [...faults, 'no response'] : faults,
  );
}

export function loggedOutcome(logged: readonly Logged[]): Outcome {
  const of = (...levels: readonly string[]): Logged[] => logged.filter(({ level }) => levels.includes(level));
  const errors = of('error', 'fatal');
  const count = (lines: readonly Logged[]): number => lines.reduce((sum, { times }) => sum + times, 0);
  return outcomeOf(
    'The service logs no error',
    `${count(errors)} errors, ${count(of('warn'))} warnings`,
    errors.map(({ message, times }) => `${times} times: ${message}`),
  );
}
