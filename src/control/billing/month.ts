import { type Axis, axisOver, monthRange } from '../usage/read-usage.ts';

/** A calendar month (UTC). Times are Unix milliseconds; `to` is exclusive. */
export type Month = Readonly<{
  /** For example `2026-11`. */
  name: string;
  from: number;
  to: number;
}>;

export const monthAt = (atMs: number): Month => ({
  name: new Date(atMs).toISOString().slice(0, 7),
  ...monthRange(atMs),
});

/** @param name - such as `2026-11`. */
export const monthNamed = (name: string): Month => monthAt(Date.parse(`${name}-01T00:00:00Z`));

export const previousMonth = ({ from }: Month): Month => monthAt(from - 1);

/** The days of a month up to now. */
export const daysOf = ({ from, to }: Month, nowMs: number): Axis =>
  axisOver('day', from, Math.max(from, Math.min(to, nowMs + 1)));
