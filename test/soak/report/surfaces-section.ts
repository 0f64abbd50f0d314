import type { TallyFigures, Times, Window } from '../figures/tally.ts';
import { type Html, html } from './html.ts';
import { plotOf, type Series, timeText } from './plot.ts';
import type { Load, SoakResult } from './soak-result.ts';
import { folded, numberText, tableOf } from './table.ts';

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);

const time = (member: keyof Times) => ({
  ...{ head: `${member} ms`, isNumber: true },
  cell: ({ times }: { times: Times | null }) => numberText(times?.[member] ?? null, 2),
});

const percentiles = ['p50', 'p90', 'p99', 'max'] as const;

/** All surfaces in one table. */
function summary(tallies: readonly TallyFigures[], seconds: number): Html {
  return tableOf<TallyFigures>(
    [
      { head: 'Surface', cell: ({ name }) => name },
      { head: 'Answers, messages', isNumber: true, cell: ({ count }) => numberText(count, 0) },
      { head: 'a second', isNumber: true, cell: ({ count }) => numberText(count / seconds) },
      ...percentiles.map(time),
      { head: 'Refused rightly', isNumber: true, cell: ({ refused }) => numberText(sum(refused), 0) },
      { head: 'Errors', isNumber: true, cell: ({ failed }) => numberText(sum(failed), 0) },
      { head: 'Wrong', isNumber: true, cell: ({ wrong }) => numberText(wrong, 0) },
    ],
    tallies,
  );
}

const middleOf = ({ from, seconds }: Window): number => from + seconds / 2;

const seriesOf = (
  name: string,
  windows: readonly Window[],
  value: (window: Window) => number | null,
): Series => ({
  name,
  points: windows.map((window) => [middleOf(window), value(window)] as const),
});

const rateOf = ({ count, seconds }: Window): number => count / seconds;

/** What is asked, at a glance: rates and 99th percentiles of all that answer. */
function overview(tallies: readonly TallyFigures[], seconds: number): Html {
  const requested = tallies.filter(({ counted }) => counted === 'answers');
  const rates = requested.map(({ name, windows }) => seriesOf(name, windows, rateOf));
  const late = requested.map(({ name, windows }) =>
    seriesOf(name, windows, ({ times }) => times?.p99 ?? null),
  );
  return html`<div class="pair">
${plotOf({ title: 'Answers of each surface', unit: 'a second', series: rates, seconds, isLog: true })}
${plotOf({ title: '99th percentile of each surface', unit: 'milliseconds', series: late, seconds, isLog: true })}
</div>`;
}

/** Rate and times of one surface over time, and the figures behind them. */
function surface({ name, counted, timed, windows }: TallyFigures, seconds: number): Html {
  const rate = seriesOf(counted, windows, rateOf);
  const times = percentiles.map((member) =>
    seriesOf(member, windows, (window) => window.times?.[member] ?? null),
  );
  const columns = [
    { head: 'From', cell: ({ from }: Window) => timeText(from) },
    { head: 'Count', isNumber: true, cell: ({ count }: Window) => numberText(count, 0) },
    { head: 'Failed', isNumber: true, cell: ({ failed }: Window) => numberText(failed, 0) },
    ...percentiles.map(time),
  ];
  return html`<h3>${name}</h3><div class="pair">
${plotOf({ title: `${name}: ${counted}`, unit: `${counted} a second`, series: [rate], seconds })}
${plotOf({ title: `${name}: ${timed}`, unit: 'milliseconds', series: times, seconds, isLog: true })}
</div>${folded(`Figures of ${name}`, tableOf<Window>(columns, windows))}`;
}

/** What was asked, of whom, how often. */
export const loadTable = (load: readonly Load[]): Html =>
  tableOf<Load>(
    [
      { head: 'Asked of', cell: ({ name }) => name },
      { head: 'a second', isNumber: true, cell: ({ perSecond }) => numberText(perSecond, 2) },
      { head: 'left out, since too many were under way', isNumber: true, cell: ({ leftOut }) => leftOut },
    ],
    load,
  );

/** The surfaces: a table of all, and plots of each. */
export const surfacesSection = ({ tallies, seconds }: SoakResult): Html => html`<h2>Surfaces</h2>
<p>Times are those of the client, in windows of ten seconds; percentiles are at most a hundredth above the true ones.
Requests leave on schedule, whether or not those before them were answered. Streams and notifications count every
message, and time those that tell of a transaction which was sent here.</p>
${summary(tallies, seconds)}
${overview(tallies, seconds)}
${tallies.map((tally) => surface(tally, seconds))}`;

type Counted = Readonly<{ surface: string; code: string; times: number; what: string }>;

const countedOf = (surfaceName: string, counts: Readonly<Record<string, number>>, what: string): Counted[] =>
  Object.entries(counts).map(([code, times]) => ({ surface: surfaceName, code, times, what }));

/** What was no answer, and what was refused because it had to be. */
export function errorsSection({ tallies, seconds }: SoakResult): Html {
  const failed = tallies.map(({ name, windows }) => seriesOf(name, windows, (window) => window.failed));
  const broken = failed.filter(({ points }) => points.some(([, count]) => (count ?? 0) > 0));
  /** One line at nothing says as much as one for each. */
  const none = failed.slice(0, 1).map(({ points }) => ({ name: 'all surfaces', points }));
  const counted = tallies.flatMap(({ name, failed: errors, wrong, refused }) => [
    ...countedOf(name, errors, 'error'),
    ...countedOf(name, wrong === 0 ? {} : { 'not true': wrong }, 'wrong answer'),
    ...countedOf(name, refused, 'refusal that had to be'),
  ]);
  const columns = [
    { head: 'Surface', cell: (one: Counted) => one.surface },
    { head: 'Code', cell: ({ code }: Counted) => html`<code>${code}</code>` },
    { head: 'What', cell: ({ what }: Counted) => what },
    { head: 'Times', isNumber: true, cell: ({ times }: Counted) => numberText(times, 0) },
  ];
  const series = broken.length === 0 ? none : broken;
  return html`<h2>Errors</h2>
<div class="pair">${plotOf({ title: 'Errors and wrong answers', unit: 'in a window', series, seconds })}
${tableOf<Counted>(columns, counted)}</div>`;
}
