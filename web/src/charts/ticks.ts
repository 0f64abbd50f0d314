const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export const timeIncrements: number[] = [
  ...[1, 5, 10, 15, 30].map((number) => number * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((number) => number * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((number) => number * HOUR_MS),
  ...[1, 2, 5, 7, 14, 30, 60, 90, 180, 365].map((number) => number * DAY_MS),
];

export const wholeIncrements: number[] = Array.from({ length: 15 }, (_, power) => 10 ** power).flatMap(
  (unit) => [unit, 2 * unit, 5 * unit],
);

const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

export function timeTicks(splits: readonly number[], increment: number): string[] {
  return splits.map((at) => {
    if (increment >= DAY_MS || at % DAY_MS === 0) return day.format(at);
    return new Date(at).toISOString().slice(11, increment < MINUTE_MS ? 19 : 16);
  });
}
