import type { Logged } from '../report/soak-result.ts';

/** pino's numbers. */
const WARN = 40;
const names: Readonly<Record<number, string>> = { 40: 'warn', 50: 'error', 60: 'fatal' };

/** What a service wrote into its log at `warn` and above, each thing once with how often it was said. */
export function loggedIn(output: string): Logged[] {
  const times = new Map<string, { level: string; message: string; times: number }>();
  for (const line of output.split('\n')) {
    if (!line.startsWith('{"level":')) continue;
    const { level, msg = '' } = JSON.parse(line) as { level: number; msg?: string };
    if (level < WARN) continue;
    const name = names[level] ?? String(level);
    const known = times.get(`${name} ${msg}`) ?? { level: name, message: msg, times: 0 };
    known.times++;
    times.set(`${name} ${msg}`, known);
  }
  return [...times.values()];
}
