import { type Html, html } from './html.ts';

/** A moment and what was then; null where nothing was measured. */
export type Point = readonly [second: number, value: number | null];
export type Series = Readonly<{ name: string; points: readonly Point[] }>;

export type Plot = Readonly<{
  /** Said to who cannot see it. */
  title: string;
  unit: string;
  series: readonly Series[];
  /** How long the axis of time is. */
  seconds: number;
  /** Powers of ten, for what differs by many of them. Default: from zero on in equal steps. */
  isLog?: boolean;
}>;

/** From a number to a place in the picture. */
type Scale = Readonly<{ place: (value: number) => number; ticks: readonly number[] }>;

const WIDTH = 560;
const HEIGHT = 200;
const LEFT = 48;
const RIGHT = 20;
const TOP = 20;
const BOTTOM = 26;
/** Colours that the page has. */
const COLOURS = 8;
const TICKS_MAX = 5;
/** What logarithmic scales begin at, at most this far below their top. */
const DECADES_MAX = 6;
const TIME_STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200];
const TIME_TICKS_MAX = 8;

const tenth = (value: number): number => Math.round(value * 10) / 10;

/** Round numbers from zero to the first that is no less than what is to be shown. */
export function linearTicks(top: number): number[] {
  if (!(top > 0)) return [0, 1];
  const least = top / TICKS_MAX;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
  const count = Math.ceil(top / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** Powers of ten that have what is to be shown between the first and the last of them. */
export function logTicks(least: number, top: number): number[] {
  if (!(top > 0)) return [1, 10];
  const last = Math.ceil(Math.log10(top));
  const first = Math.max(last - DECADES_MAX, Math.min(last - 1, Math.floor(Math.log10(least))));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

/** The line through points, as a path of SVG: it is broken where nothing was measured, and a lone point is a dot. */
export function linePath(
  points: readonly Point[],
  x: (second: number) => number,
  y: (value: number) => number,
): string {
  let path = '';
  let isOpen = false;
  points.forEach(([second, value], at) => {
    if (value === null) {
      isOpen = false;
      return;
    }
    path += `${isOpen ? 'L' : 'M'}${tenth(x(second))} ${tenth(y(value))}`;
    if (!isOpen && (points[at + 1]?.[1] ?? null) === null) path += 'h0';
    isOpen = true;
  });
  return path;
}

function heightScale({ series, isLog = false }: Plot): Scale {
  const values = series.flatMap(({ points }) =>
    points.flatMap(([, value]) => (value === null ? [] : [value])),
  );
  const top = Math.max(0, ...values);
  const ticks = isLog ? logTicks(Math.min(...values.filter((value) => value > 0)), top) : linearTicks(top);
  const [first, last] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const share = isLog
    ? (value: number) => Math.log10(Math.max(value, first) / first) / Math.log10(last / first)
    : (value: number) => value / last;
  return { ticks, place: (value) => HEIGHT - BOTTOM - share(value) * (HEIGHT - BOTTOM - TOP) };
}

function timeScale({ seconds }: Plot): Scale {
  const step = TIME_STEPS.find((one) => seconds / one <= TIME_TICKS_MAX) ?? TIME_STEPS.at(-1)!;
  const ticks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, at) => at * step);
  return { ticks, place: (second) => LEFT + (second / seconds) * (WIDTH - LEFT - RIGHT) };
}

const SUFFIXES = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** A number as an axis has it. */
export function axisText(value: number): string {
  const [unit, suffix] = SUFFIXES.find(([least]) => value >= least) ?? [1, ''];
  return `${Number((value / unit).toPrecision(3))}${suffix}`;
}

/** Minutes and seconds. */
export const timeText = (second: number): string =>
  `${Math.floor(second / 60)}:${String(Math.round(second % 60)).padStart(2, '0')}`;

const heightTick = (
  value: number,
  y: number,
): Html => html`<path class="grid" d="M${LEFT} ${y}H${WIDTH - RIGHT}"/>
<text x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${axisText(value)}</text>`;

const timeTick = (second: number, x: number): Html =>
  html`<text x="${x}" y="${HEIGHT - 8}" text-anchor="middle">${timeText(second)}</text>`;

const colourOf = (at: number): string => `c${at % COLOURS}`;

const keyOf = ({ name }: Series, at: number): Html =>
  html`<li><span class="key ${colourOf(at)}"></span>${name}</li>`;

/** Lines over time: a picture in SVG with its scales, and under it whose line is whose. */
export function plotOf(plot: Plot): Html {
  const [time, height] = [timeScale(plot), heightScale(plot)];
  const lines = plot.series.map(
    ({ name, points }, at) =>
      html`<path class="line ${colourOf(at)}" d="${linePath(points, time.place, height.place)}"><title>${name}</title></path>`,
  );
  return html`<figure><figcaption>${plot.title}</figcaption>
<div class="plot"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${plot.title}, ${plot.unit}">
<text x="${LEFT}" y="12">${plot.unit}</text>
${height.ticks.map((value) => heightTick(value, tenth(height.place(value))))}
${time.ticks.map((second) => timeTick(second, tenth(time.place(second))))}
${lines}
</svg></div>
${plot.series.length > 1 ? html`<ul class="keys">${plot.series.map(keyOf)}</ul>` : null}</figure>`;
}
