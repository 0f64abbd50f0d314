import { readFileSync } from 'node:fs';

/** Identifies a process, even after its pid is reused. */
type ProcessIdentity = Readonly<{
  pid: number;
  /** Start time in clock ticks since boot; '' if unknown. */
  started: string;
}>;

export const identityOf = (pid: number): ProcessIdentity => ({ pid, started: statOf(pid)[STARTED] ?? '' });

/** Whether the process is still running. Valid only for processes started since this boot. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const stat = statOf(pid);
  // A zombie has exited: it no longer has open files.
  if (stat[STATE] === 'Z') return false;
  const startedNow = stat[STARTED] ?? '';
  return started === '' || startedNow === '' || startedNow === started;
}

/** Identifies this boot; '' if unknown. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Indexes of fields after the process name in /proc/PID/stat. Source: proc(5). */
const STATE = 0;
const STARTED = 19;

/** Returns the fields after the process name in /proc/PID/stat; an empty list if unknown. */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
