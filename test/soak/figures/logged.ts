import type { Logged } from '../report/soak-result.ts';

/** pino's numbers. */
const INFO = 30;
const names: Readonly<Record<number, string>> = { 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };
const DETAIL_MAX = 300;

type LogLine = Readonly<{ level: number; time?: string; msg?: string }>;

/** Log messages of a service at `info` and above, each with its count. */
export function loggedIn(output: string): Logged[] {
  const times = new Map<string, { level: string; message: string; times: number; last: string }>();
  for (const line of output.split('\n')) {
    if (!line.startsWith('{"level":')) continue;
    const { level, time: _time, msg = '', ...details } = JSON.parse(line) as LogLine;
    if (level < INFO) continue;
    const name = names[level] ?? String(level);
    const known = times.get(`${name} ${msg}`) ?? { level: name, message: msg, times: 0, last: '' };
    known.times++;
    known.last = JSON.stringify(details).slice(0, DETAIL_MAX);
    times.set(`${name} ${msg}`, known);
  }
  return [...times.values()];
}
