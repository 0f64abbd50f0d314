import type { UsageStep } from '../../database/tables/usage.ts';

/** How long each step is, in milliseconds. */
export const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const satisfies Record<
  UsageStep,
  number
>;

/** Equal steps of time from `from` to before `to`, both counted in steps since 1970 (UTC). */
export type Axis = Readonly<{ step: UsageStep; from: number; to: number }>;

/** The axis of all steps that lie in a stretch of time, wholly or in part. Unix milliseconds. */
export const axisOver = (step: UsageStep, fromMs: number, toMs: number): Axis => ({
  step,
  from: Math.floor(fromMs / stepMs[step]),
  to: Math.ceil(toMs / stepMs[step]),
});

/** How many steps there are. */
export const lengthOf = ({ from, to }: Axis): number => to - from;

/** The axis of the same length that ends where this one begins. */
export const before = (axis: Axis): Axis => ({ ...axis, from: axis.from - lengthOf(axis), to: axis.from });

/** A series of nothing. */
export const zeros = (axis: Axis): number[] => Array<number>(lengthOf(axis)).fill(0);

/** The calendar month (UTC) that a moment lies in, in Unix milliseconds; it ends before `to`. */
export function monthOf(atMs: number): Readonly<{ from: number; to: number }> {
  const date = new Date(atMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}
