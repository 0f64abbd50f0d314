import { readFileSync } from 'node:fs';

/** USER_HZ, fixed at 100 in /proc on Linux. */
const TICK_MS = 10;

/**
 * CPU time in ms of a process and its reaped children, independent of the load of the machine. Source: proc(5),
 * /proc/pid/stat, fields 14 to 17.
 */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Field 2, the program name, may contain spaces; it ends at the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}
