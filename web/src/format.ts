/** Numbers, sizes and times as the pages show them. English words, times in UTC. */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** 12,345 */
export const formatCount = (value: number): string => whole.format(value);

/** 12.3K from ten thousand on; below it the whole number. */
export const formatShort = (value: number): string =>
  Math.abs(value) < 10_000 ? whole.format(value) : compact.format(value);

/** A number a second; small ones with a part of one. */
export const formatRate = (rate: number): string =>
  rate > 0 && rate < 10 ? rate.toFixed(1) : whole.format(rate);

/** Of a half at most; with two digits where one would say next to nothing. */
function roundedPercent(share: number): readonly [percent: number, digits: 1 | 2] {
  if (share <= 0) return [0, 1];
  if (share < 0.001) return [Math.max(1, Math.round(share * 10_000)) / 100, 2];
  return [Math.round(share * 1000) / 10, 1];
}

/**
 * 0 to 1 as a percentage; never 100 % of what was not whole, nor 0 % of what was there. A part and the
 * rest add up as they are shown.
 */
export function formatShare(share: number): string {
  if (share >= 1) return '100%';
  const [percent, digits] = roundedPercent(Math.min(share, 1 - share));
  return `${(share > 0.5 ? 100 - percent : percent).toFixed(digits)}%`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes in powers of a thousand. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${units[power]}`;
}

/** Milliseconds; what is below one in microseconds. null is a dash. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  if (ms > 0 && ms < 1) return `${Math.max(1, Math.round(ms * 1000))} µs`;
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
}

/** A mark of an axis of milliseconds; nothing takes no time. */
export const formatMsTick = (ms: number): string => (ms === 0 ? '0' : formatMs(ms));

const spans: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** A stretch of time by its two largest units: `2 h 5 min`. */
export function formatSpan(ms: number): string {
  let remaining = Math.max(0, Math.round(ms / 1000) * 1000);
  const parts: string[] = [];
  for (const [size, name] of spans) {
    const number = Math.floor(remaining / size);
    remaining -= number * size;
    if (number > 0) parts.push(`${number} ${name}`);
    if (parts.length === 2 || (parts.length === 1 && number === 0)) break;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** `3 s ago`, by one unit. */
export function formatAgo(at: number, now: number): string {
  const ms = now - at;
  if (ms < 1_000) return 'now';
  const [size, name] = spans.find(([one]) => ms >= one) ?? [1_000, 's'];
  return `${Math.floor(ms / size)} ${name} ago`;
}

/** LAST_TIME of src/base/max-time.ts: rows of old may have later ones, which are written as this. */
const TIME_MAX = Date.UTC(10_000, 0) - 1;
const dateOf = (at: number): Date => new Date(Math.min(at, TIME_MAX));

/** `2026-11-22T06:51:10.123Z`, for what is read by programs and fields. */
export const isoTime = (at: number): string => dateOf(at).toISOString();

/** `2026-11-22 06:51:10` in UTC; with milliseconds where they matter. */
export const formatTime = (at: number, withMs = false): string =>
  isoTime(at)
    .replace('T', ' ')
    .slice(0, withMs ? 23 : 19);

/** `2026-11-22` in UTC. */
export const formatDay = (at: number): string => isoTime(at).slice(0, 10);

/** The same moment on the reader's own clock, for what stands on hover. */
export const formatLocal = (at: number): string =>
  dateOf(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
