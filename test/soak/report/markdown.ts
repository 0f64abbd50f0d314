import { sparkline } from '../../programs/process-stats.ts';
import type { ProcessFigures, ProcessWindow } from '../figures/process-watch.ts';
import type { TallyFigures } from '../figures/tally.ts';
import { isWhole, type Outcome } from './outcome.ts';
import type { SoakResult } from './soak-result.ts';

/** ✓ for a promise that held, ✗ for a broken one, – for one that was not judged. */
export const mark = ({ isFulfilled }: Outcome): string =>
  isFulfilled === null ? '–' : isFulfilled ? '✓' : '✗';

type Cell = string | number | null | undefined;

const cellText = (cell: Cell): string => {
  if (cell === null || cell === undefined) return '–';
  if (typeof cell === 'string')
    return cell.replaceAll('|', '\\|').replaceAll('<', '&lt;').replace(/\s+/g, ' ');
  return cell.toLocaleString('en', { maximumFractionDigits: Math.abs(cell) >= 100 ? 0 : 2 });
};

const row = (cells: readonly Cell[]): string => `| ${cells.map(cellText).join(' | ')} |`;

const table = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n');

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);

/** Minutes and seconds. */
const timeText = (second: number): string =>
  `${Math.floor(second / 60)}:${String(Math.round(second % 60)).padStart(2, '0')}`;

function verdict(outcomes: readonly Outcome[]): string {
  const broken = outcomes.filter(({ isFulfilled }) => isFulfilled === false).length;
  const open = outcomes.filter(({ isFulfilled }) => isFulfilled === null).length;
  const judged = outcomes.length - open;
  const text = isWhole(outcomes)
    ? `All ${judged} judged promises held.`
    : `${broken} of ${judged} promises were broken.`;
  return `**${text}**${open === 0 ? '' : ` ${open} could not be judged.`}`;
}

const interfaceRow = (
  seconds: number,
  { name, windows, count, times, refused, failed, wrong }: TallyFigures,
): Cell[] => [
  ...[name, count, count / seconds, times?.p50, times?.p90, times?.p99, times?.max],
  ...[sum(refused), sum(failed), wrong],
  sparkline(windows.map((window) => window.count / window.seconds)),
  sparkline(windows.map((window) => window.times?.p99 ?? 0)),
];

function processRow({ name, windows }: ProcessFigures): Cell[] {
  const range = (measure: (window: ProcessWindow) => number | null): string => {
    const values = windows.map(measure).filter((value) => value !== null);
    if (values.length === 0) return '–';
    return `${cellText(Math.min(...values))} to ${cellText(Math.max(...values))} ${sparkline(values)}`;
  };
  return [
    name,
    range(({ residentMib }) => residentMib),
    range(({ heapMib }) => heapMib),
    range(({ externalMib }) => externalMib),
    range(({ cpuShare }) => cpuShare * 100),
    range(({ waitedShare }) => waitedShare * 100),
    range(({ loopDelayMs }) => loopDelayMs),
    range(({ descriptors }) => descriptors),
  ];
}

const codes = (name: string, what: string, counts: Readonly<Record<string, number>>): Cell[][] =>
  Object.entries(counts).map(([code, times]) => [name, what, code, times]);

/** The report of a run. */
export const markdownOf = (result: SoakResult): string => `# Soak test, ${result.begunAt}

${verdict(result.outcomes)}

${table(
  ['', 'Promise', 'Found', 'Faults'],
  result.outcomes.map((outcome) => [
    mark(outcome),
    outcome.promise,
    outcome.found,
    outcome.faults.join('; '),
  ]),
)}

## Setup

${table(
  ['Command', 'Commit', 'Node.js', 'Machine', 'Under load', 'Slots', 'Subscriptions'],
  [
    [
      result.command,
      result.commit,
      result.node,
      result.machine,
      timeText(result.seconds),
      result.slots,
      result.held,
    ],
  ],
)}

${table(
  ['Load', 'per second', 'skipped, too many in flight'],
  result.load.map(({ name, perSecond, skipped }) => [name, perSecond, skipped]),
)}

## Interfaces

Times are those of the client. Streams count every message, and time those about a transaction of this run. The last
columns show rate and p99 over time.

${table(
  [
    ...['Interface', 'Responses, messages', 'per second', 'p50 ms', 'p90 ms', 'p99 ms', 'max ms'],
    ...['Expected errors', 'Errors', 'Wrong', 'Rate', 'p99'],
  ],
  result.tallies.map((tally) => interfaceRow(result.seconds, tally)),
)}

${table(
  ['Interface', 'What', 'Code', 'Times'],
  result.tallies.flatMap(({ name, failed, refused }) => [
    ...codes(name, 'error', failed),
    ...codes(name, 'expected error', refused),
  ]),
)}

## Processes

Medians of samples once a second, lowest to highest. The clients store what they received, so their memory grows.

${table(
  [
    'Process',
    'Resident MiB',
    'Heap MiB',
    'External MiB',
    'CPU %',
    'Waiting for a CPU %',
    'Loop delay p99 ms',
    'Files',
  ],
  result.processes.map(processRow),
)}

${table(
  ['Gateway', 'over time'],
  (['websockets', 'streams', 'queuedBytes'] as const).map((member) => {
    const values = result.gauges.map((gauge) => gauge[member]);
    return [member, `${Math.min(...values)} to ${Math.max(...values)} ${sparkline(values)}`];
  }),
)}

## Log

${table(
  ['Level', 'Message', 'Times', 'Last details'],
  result.logged.map(({ level, message, times, last }) => [level, message, times, last]),
)}
`;
