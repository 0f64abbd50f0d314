import { UsageError } from './command.ts';

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * A point in time as a person writes it: an ISO date or time (UTC unless it says otherwise), or a time from
 * now in minutes, hours or days: `90m`, `12h`, `30d`.
 * @returns Unix milliseconds. @throws UsageError
 */
export function parseExpiry(text: string, now: number): number {
  const span = /^(\d{1,5})([mhd])$/.exec(text);
  if (span !== null) return now + Number(span[1]) * units[span[2] as keyof typeof units];
  const time = /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw new UsageError('--expires is a date such as 2027-01-31 or a time from now such as 30d, 12h or 90m');
}

/** Hours, fractions allowed. @throws UsageError */
export function parseHours(text: string): number {
  if (/^\d{1,5}(\.\d{1,4})?$/.test(text)) return Number(text);
  throw new UsageError('--overlap is a number of hours such as 24, 0.5 or 0');
}
