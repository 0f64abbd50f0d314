import type { EndsWindow } from '../figures/ends-watch.ts';
import type { IdleCount } from '../figures/idle-count-watch.ts';
import type { ProcessFigures } from '../figures/process-watch.ts';
import type { TallyFigures } from '../figures/tally.ts';
import { growthOf, median } from '../geyser/gauge.ts';
import { countText } from './count-text.ts';
import { notEvaluated, type Outcome, outcomeOf } from './outcome.ts';
import type { Logged } from './soak-result.ts';

/** What the later half may lie above the earlier half, of its own noise. */
export const GROWTH_MAX = 1.15;
/** Memory finds its size at the beginning: that much of the run, and no less, is not judged. */
const SETTLING_SHARE = 0.2;
const SETTLING_MIN_S = 60;
const WINDOWS_MIN = 6;
const TOO_SHORT = 'the run was too short';
/** Who waits longer for a processor than this share of a window collects garbage late, and reads sockets late. */
const STARVED_SHARE = 0.5;
/** What a process has open at the least comes and goes with connections: the later half may have that many more. */
const DESCRIPTORS_MORE_MAX = 10;
/** And at the most so many: in a stall clients open new connections for what waits, a leak goes on beyond that. */
const DESCRIPTORS_HUMP_MAX = 256;
/** What a connection is just opening or closing with may be there at one end alone. */
const ENDS_APART_MAX = 5;
/** So much the later half may lie from the earlier one: what stays open is never closed again. */
const ENDS_DRIFT_MAX = 2;
/** What a process may have more when all is over: nothing is known that stays; one for what is just being asked. */
const OUTCOMES_MAX = 1;

/** Windows in which memory should have found its size; none for a run that is too short. */
function settled<Window extends { from: number }>(windows: readonly Window[], seconds: number): Window[] {
  const from = Math.max(SETTLING_MIN_S, seconds * SETTLING_SHARE);
  const judged = windows.filter((window) => window.from >= from);
  return judged.length < WINDOWS_MIN ? [] : judged;
}

/** Whether a process waited for processors that others had: then it tells of the machine, not of itself. */
export const isStarved = ({ windows }: ProcessFigures): boolean =>
  windows.some(({ waitedShare }) => waitedShare > STARVED_SHARE);

/**
 * Whether the memory of a process stayed what it was.
 * @param wasStarved - whether any process was: what waits is held, and what is over is collected late.
 */
export function memoryOutcome(
  { name, windows }: ProcessFigures,
  seconds: number,
  wasStarved: boolean,
): Outcome {
  const promise = `The memory of the ${name} is flat: its later half at most ${GROWTH_MAX} times the earlier one`;
  const mib = settled(windows, seconds).map(({ residentMib }) => residentMib);
  if (mib.length === 0) return notEvaluated(promise, TOO_SHORT);
  const growth = growthOf(mib);
  if (growth > GROWTH_MAX && wasStarved)
    return notEvaluated(
      promise,
      `${growth.toFixed(3)} times, while processes waited for processors that others had`,
    );
  const found = `${growth.toFixed(3)} times; ${Math.round(Math.min(...mib))} to ${Math.round(Math.max(...mib))} MiB`;
  return outcomeOf(promise, found, growth > GROWTH_MAX ? [`it grew by ${growth.toFixed(3)}`] : []);
}

/**
 * Whether a process has more and more open while it is asked: at the least, and, by more than its clients open whenever
 * the machine stands still, at the most. Ends of connections are held against each other besides.
 */
export function descriptorsOutcome({ name, windows }: ProcessFigures, seconds: number): Outcome {
  const promise = `The ${name} has not more and more files and sockets open`;
  const open = settled(windows, seconds).map(({ descriptors }) => descriptors);
  if (open.length === 0) return notEvaluated(promise, TOO_SHORT);
  const half = Math.floor(open.length / 2);
  const moreOf = (pick: typeof Math.min): number => pick(...open.slice(half)) - pick(...open.slice(0, half));
  const [more, higher] = [moreOf(Math.min), moreOf(Math.max)];
  const faults = [
    ...(more > DESCRIPTORS_MORE_MAX ? [`${more} more in the later half, at the least`] : []),
    ...(higher > DESCRIPTORS_HUMP_MAX ? [`${higher} more in the later half, at the most`] : []),
  ];
  return outcomeOf(promise, `${Math.min(...open)} to ${Math.max(...open)} open`, faults);
}

/**
 * Whether sockets of a process stay open whose other end is closed, or the other way about.
 * @param counted - stretches in which the process itself was counted: in each of them its ends must have been.
 */
export function endsOutcome(
  windows: readonly EndsWindow[],
  counted: ProcessFigures['windows'],
  seconds: number,
): Outcome {
  const promise =
    'No connection is open at one end only: what the gateway has open beyond its clients and the ledger stays the same';
  const wanted = settled(counted, seconds).length;
  if (wanted === 0) return notEvaluated(promise, TOO_SHORT);
  const beyond = settled(windows, seconds).map((window) => window.beyond);
  if (beyond.length < wanted)
    return outcomeOf(promise, 'it cannot be told', [`counted ${beyond.length} of ${wanted} times`]);
  const half = Math.floor(beyond.length / 2);
  const drift = Math.abs(median(beyond.slice(half)) - median(beyond.slice(0, half)));
  const usual = median(beyond);
  const apart = Math.max(...beyond.map((count) => Math.abs(count - usual)));
  const found = `${Math.min(...beyond)} to ${Math.max(...beyond)}, usually ${usual}`;
  const faults = [
    ...(apart > ENDS_APART_MAX ? [`${apart} apart from the usual`] : []),
    ...(drift > ENDS_DRIFT_MAX ? [`the later half lies ${drift} from the earlier one`] : []),
  ];
  return outcomeOf(promise, found, faults);
}

/** Whether a process gave back what it opened for those who asked, whenever it was. */
export function givenBackOutcome({ name, when, before, after }: IdleCount): Outcome {
  const promise = `The ${name} gives back files and sockets: ${when}, at most ${OUTCOMES_MAX} more than before is open`;
  if (before === null || after === null)
    return outcomeOf(promise, 'it cannot be told', ['what it has open cannot be counted, or it ended']);
  const more = after - before;
  return outcomeOf(promise, `${before} before, ${after} after`, more > OUTCOMES_MAX ? [`${more} more`] : []);
}

/** Whether everything that was asked of a surface was answered, and truly. */
export function answersOutcome({ name, count, failed, refused, wrong, wrongTexts }: TallyFigures): Outcome {
  const codes = Object.entries(failed);
  const errors = codes.reduce((sum, [, times]) => sum + times, 0);
  const right = Object.values(refused).reduce((sum, times) => sum + times, 0);
  const besides = right === 0 ? '' : ` (${countText(right)} of them refusals that had to be)`;
  const faults = [...codes.map(([code, times]) => `${times} times ${code}`), ...wrongTexts];
  return outcomeOf(
    `${name}: everything is answered, and every answer is true`,
    `${countText(count)} answers${besides}, ${countText(errors)} errors, ${countText(wrong)} wrong`,
    count === 0 ? [...faults, 'nothing was answered'] : faults,
  );
}

/** Whether the service had nothing to complain of. */
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
