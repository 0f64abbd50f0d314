import type { Setting } from '../../bench/results.ts';
import { type Gauge, sparkline } from '../programs/process-stats.ts';
import { isWhole, type Outcome } from './outcomes.ts';
import type { Tally } from './tally.ts';

export type SoakResult = Setting &
  Readonly<{
    begunAt: string;
    seconds: number;
    slots: number;
    outcomes: readonly Outcome[];
    interfaces: readonly ReturnType<typeof interfaceFigures>[];
    processes: readonly ReturnType<typeof processFigures>[];
  }>;

export const interfaceFigures = (tally: Tally, seconds: number, skipped: number) => {
  const { name, count, refused, errors, wrong } = tally;
  const [p50, p90, p99, max] = [50, 90, 99, 100].map((percent) => tally.percentile(percent));
  return { name, count, perSecond: count / seconds, p50, p90, p99, max, refused, errors, wrong, skipped };
};

export const processFigures = (name: string, { memoryMib, descriptors, waitedMsEach, cpuShare }: Gauge) => ({
  ...{ name, memoryMib, descriptors, cpuPercent: cpuShare * 100 },
  waitedPercent: waitedMsEach.reduce((sum, ms) => sum + ms, 0) / Math.max(1, waitedMsEach.length) / 10,
});

/** ✓ for a promise that held, ✗ for a broken one, – for one that was not evaluated. */
const mark = ({ isFulfilled }: Outcome): string => (isFulfilled === null ? '–' : isFulfilled ? '✓' : '✗');

type Cell = string | number | null | undefined;

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '–';
  if (typeof cell === 'number')
    return cell.toLocaleString('en', { maximumFractionDigits: Math.abs(cell) >= 100 ? 0 : 2 });
  return cell.replaceAll('|', '\\|').replaceAll('<', '&lt;').replace(/\s+/g, ' ');
}

const row = (cells: readonly Cell[]): string => `| ${cells.map(cellText).join(' | ')} |`;

const table = (head: string, rows: readonly (readonly Cell[])[]): string =>
  [`| ${head} |`, `|${'---|'.repeat(head.split('|').length)}`, ...rows.map(row)].join('\n');

const range = (values: readonly number[]): string =>
  `${Math.min(...values)} to ${Math.max(...values)} ${sparkline(values)}`;

export function markdownOf(result: SoakResult): string {
  const { begunAt, seconds, slots, outcomes, interfaces, processes } = result;
  const broken = outcomes.filter(({ isFulfilled }) => isFulfilled === false).length;
  const open = outcomes.filter(({ isFulfilled }) => isFulfilled === null).length;
  const judged = outcomes.length - open;
  return `# Soak test, ${begunAt}

**${isWhole(outcomes) ? `All ${judged} judged promises held.` : `${broken} of ${judged} promises were broken.`}** \
${open} could not be judged.

${table(
  ' | Promise | Found | Faults',
  outcomes.map((outcome) => [mark(outcome), outcome.promise, outcome.found, outcome.faults.join('; ')]),
)}

${table('Command | Commit | Node.js | Machine | Seconds | Slots', [
  [result.command, result.commit, result.node, result.machine, seconds, slots],
])}

## Interfaces

Times in milliseconds are those of the client. Streams count every message, and time those about a transaction of this
run. Requests are skipped when too many are in flight.

${table(
  'Interface | Responses, messages | per second | p50 | p90 | p99 | max | Expected errors | Errors | Wrong | Skipped',
  interfaces.map((figures) => Object.values(figures)),
)}

## Processes

The clients store what they received, so their memory grows.

${table(
  'Process | Resident MiB | Files | CPU % | Waiting for a CPU %',
  processes.map((one) => [
    ...[one.name, range(one.memoryMib), range(one.descriptors), one.cpuPercent, one.waitedPercent],
  ]),
)}
`;
}
