export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const formatCount = (value: number): string => whole.format(value);

const moneyFormat = (currency: string): Intl.NumberFormat =>
  new Intl.NumberFormat('en', { style: 'currency', currency: currency.toUpperCase() });

/** Number of digits of the minor unit, such as 2 for cents. */
export const minorDigits = (currency: string): number =>
  moneyFormat(currency).resolvedOptions().maximumFractionDigits ?? 2;

/** @param amount - in minor units, such as cents. */
export const formatMoney = (amount: number, currency: string): string =>
  moneyFormat(currency).format(amount / 10 ** minorDigits(currency));

/** @param noun - singular of a noun whose plural ends in "s". */
export const formatNumberOf = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

export const formatShort = (value: number): string =>
  Math.abs(value) < 10_000 ? whole.format(value) : compact.format(value);

export const formatRate = (rate: number): string =>
  rate > 0 && rate < 10 ? rate.toFixed(1) : whole.format(rate);

function roundedPercent(share: number): readonly [percent: number, digits: 1 | 2] {
  if (share <= 0) return [0, 1];
  if (share < 0.001) return [Math.max(1, Math.round(share * 10_000)) / 100, 2];
  return [Math.round(share * 1000) / 10, 1];
}

/** 0 to 1 as a percentage. Never rounds a partial share to 0% or 100%, and complements add up. */
export function formatShare(share: number): string {
  if (share >= 1) return '100%';
  const [percent, digits] = roundedPercent(Math.min(share, 1 - share));
  return `${(share > 0.5 ? 100 - percent : percent).toFixed(digits)}%`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${units[power]}`;
}

export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  if (ms > 0 && ms < 1) return `${Math.max(1, Math.round(ms * 1000))} µs`;
  if (ms >= 999.5) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
}

export const formatMsTick = (ms: number): string => (ms === 0 ? '0' : formatMs(ms));

const spans: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

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

export function formatAgo(at: number, now: number): string {
  const ms = now - at;
  if (ms < 1_000) return 'just now';
  const [size, name] = spans.find(([one]) => ms >= one) ?? [1_000, 's'];
  return `${Math.floor(ms / size)} ${name} ago`;
}

/** LAST_TIME of src/base/max-time.ts; later stored times are clamped to it. */
const TIME_MAX = Date.UTC(10_000, 0) - 1;
const dateOf = (at: number): Date => new Date(Math.min(at, TIME_MAX));

export const isoTime = (at: number): string => dateOf(at).toISOString();

export const formatTime = (at: number, withMs = false): string =>
  isoTime(at)
    .replace('T', ' ')
    .slice(0, withMs ? 23 : 19);

export const formatDay = (at: number): string => isoTime(at).slice(0, 10);

export const formatLocal = (at: number): string =>
  dateOf(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });

export const formatMonth = (at: number): string =>
  dateOf(at).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
