import type { Setting, Spread } from './results.ts';

/** Columns that the longest bar has. */
export const BAR = 40;

/** A value as a bar beside the greatest of its kind; of whatever is there, something is seen. */
export const bar = (value: number, greatest: number): string =>
  '█'.repeat(Math.max(1, Math.round((value / greatest) * BAR))).padEnd(BAR);

/** A spread as its median and its range. */
export const spreadText = ({ median, min, max }: Spread, digits = 2): string =>
  `${median.toFixed(digits)} [${min.toFixed(digits)} to ${max.toFixed(digits)}]`;

/** What a result was had with, in a line. */
export const settingText = (
  { machine, node, commit }: Setting,
  setup: Readonly<{ rounds: number; seconds: number; connections: number }>,
): string =>
  [
    `${setup.rounds} rounds of ${setup.seconds} s, ${setup.connections} connections`,
    ...[machine, node, commit],
  ].join('; ');
