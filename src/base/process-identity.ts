import { readFileSync } from 'node:fs';

/** A process, told from a later one with the same number. */
export type ProcessIdentity = Readonly<{
  pid: number;
  /** When it started, in clock ticks since boot; '' where the system does not tell. */
  started: string;
}>;

/** The identity of a running process. */
export const identityOf = (pid: number): ProcessIdentity => ({ pid, started: statOf(pid)[STARTED] ?? '' });

/** Whether the process still runs in this run of the machine. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const stat = statOf(pid);
  // Ended, and nobody has asked how: it has no files open any more.
  if (stat[STATE] === 'Z') return false;
  const startedNow = stat[STARTED] ?? '';
  return started === '' || startedNow === '' || startedNow === started;
}

/** Names this run of the machine; '' where the system does not tell. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Positions in what follows the name in /proc/PID/stat. Source: proc(5). */
const STATE = 0;
const STARTED = 19;

/** Facts about a process; none where the system does not tell. */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
