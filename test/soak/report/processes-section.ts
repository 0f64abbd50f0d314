import type { ProcessFigures, ProcessWindow } from '../figures/process-watch.ts';
import type { ServiceGauges } from '../figures/service-gauges.ts';
import { type Html, html } from './html.ts';
import { plotOf, type Series, timeText } from './plot.ts';
import type { SoakResult } from './soak-result.ts';
import { type Column, folded, numberText, tableOf } from './table.ts';

type Measure = (window: ProcessWindow) => number | null;

const seriesOf = (name: string, windows: readonly ProcessWindow[], measure: Measure): Series => ({
  name,
  points: windows.map((window) => [window.from, measure(window)] as const),
});

const isMeasured = ({ points }: Series): boolean => points.some(([, value]) => value !== null);

const number = (head: string, measure: Measure): Column<ProcessWindow> => ({
  ...{ head, isNumber: true, cell: (window) => numberText(measure(window)) },
});

const columns: readonly Column<ProcessWindow>[] = [
  { head: 'From', cell: ({ from }) => timeText(from) },
  number('Resident MiB', ({ residentMib }) => residentMib),
  number('Heap MiB', ({ heapMib }) => heapMib),
  number('External MiB', ({ externalMib }) => externalMib),
  number('Processor %', ({ cpuShare }) => cpuShare * 100),
  number('Waited for one %', ({ waitedShare }) => waitedShare * 100),
  number('Loop delay p99 ms', ({ loopDelayMs }) => loopDelayMs),
  number('Descriptors', ({ descriptors }) => descriptors),
];

/** The memory of one process, and all figures of it. */
function memory({ name, windows }: ProcessFigures, seconds: number): Html {
  const series = [
    seriesOf('resident', windows, ({ residentMib }) => residentMib),
    seriesOf('heap', windows, ({ heapMib }) => heapMib),
    seriesOf('external', windows, ({ externalMib }) => externalMib),
  ].filter(isMeasured);
  return html`<div>${plotOf({ title: `Memory of the ${name}`, unit: 'MiB', series, seconds })}
${folded(`Figures of the ${name}`, tableOf(columns, windows))}</div>`;
}

/** One measure of every process that has it. */
const ofAll = (processes: readonly ProcessFigures[], measure: Measure): Series[] =>
  processes.map(({ name, windows }) => seriesOf(name, windows, measure)).filter(isMeasured);

const gaugeSeries = (
  name: string,
  gauges: readonly ServiceGauges[],
  member: 'websockets' | 'streams' | 'queuedBytes',
): Series => ({ name, points: gauges.map((gauge) => [gauge.second, gauge[member]] as const) });

/** Memory, processor time, event loops, descriptors and connections over time. */
export function processesSection({ processes, gauges, seconds }: SoakResult): Html {
  const plot = (title: string, unit: string, series: readonly Series[]): Html =>
    plotOf({ title, unit, series, seconds });
  return html`<h2>Processes</h2>
<p>Medians of looks once a second. The gateway tells its heap, its buffers and its event loop at <code>/metrics</code>, where
a loop that is never late shows the 20 ms between two looks; the ledger tells nothing of its inside. The clients keep what
they heard until the end, so their memory grows and is not judged. Where processes waited for a processor, the machine had
more to do than this, and times are longer than the service makes them.</p>
<div class="pair">
${processes.map((one) => memory(one, seconds))}
${plot(
  'Processor time',
  '% of a core',
  ofAll(processes, ({ cpuShare }) => cpuShare * 100),
)}
${plot(
  'Waiting for a processor that others had',
  '% of the time',
  ofAll(processes, ({ waitedShare }) => waitedShare * 100),
)}
${plot(
  'Delay of the event loop, 99th percentile',
  'milliseconds',
  ofAll(processes, ({ loopDelayMs }) => loopDelayMs),
)}
${plot(
  'Open files and sockets',
  'descriptors',
  ofAll(processes, ({ descriptors }) => descriptors),
)}
${plot('Connections of the gateway', 'open', [
  gaugeSeries('WebSockets', gauges, 'websockets'),
  gaugeSeries('gRPC streams', gauges, 'streams'),
])}
${plot('What waits for clients to read', 'bytes', [gaugeSeries('queued', gauges, 'queuedBytes')])}
</div>`;
}
