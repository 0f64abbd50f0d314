import type { Setting, Spread } from './results.ts';

/** Columns of the longest bar. */
export const BAR = 40;

/** A bar relative to the greatest value; at least one column. */
export const bar = (value: number, greatest: number): string =>
  '█'.repeat(Math.max(1, Math.round((value / greatest) * BAR))).padEnd(BAR);

export const spreadText = ({ median, min, max }: Spread, digits = 2): string =>
  `${median.toFixed(digits)} [${min.toFixed(digits)} to ${max.toFixed(digits)}]`;

export const settingText = (
  { machine, node, commit }: Setting,
  setup: Readonly<{ rounds: number; seconds: number; connections: number }>,
): string =>
  [
    `${setup.rounds} rounds of ${setup.seconds} s, ${setup.connections} connections`,
    ...[machine, node, commit],
  ].join('; ');
