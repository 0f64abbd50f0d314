import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const FILE = 'ledger.lock';

const holderSchema = z.object({ pid: z.number(), started: z.string(), boot: z.string() });
type Holder = z.infer<typeof holderSchema>;

/** Locks of this very process: its pid alone cannot tell a live lock from one left by an earlier life. */
const held = new Set<string>();

export type LedgerLock = Readonly<{
  /**
   * Whether the ledger's last holder let go in order, or died while the machine lived on. Otherwise the
   * newest slots may have died with the machine.
   */
  isIntact: boolean;
  release: () => void;
}>;

/** Another process has the ledger open; it may be about to end. */
export class LedgerInUseError extends Error {
  constructor(dir: string, pid: number) {
    super(`the ledger directory ${dir} is in use by process ${pid}`);
    this.name = 'LedgerInUseError';
  }
}

/**
 * Takes a ledger directory for this process. A lock whose process is gone is taken over.
 * @throws LedgerInUseError when another process has it.
 */
export function lockLedger(dir: string): LedgerLock {
  const path = join(dir, FILE);
  const me: Holder = { pid: process.pid, started: startOf(process.pid), boot: bootId() };
  let isIntact = true;
  for (let tries = 0; !tryCreate(path, me); tries++) {
    const holder = readHolder(path);
    if (holder !== null && isHeld(path, holder)) {
      throw new LedgerInUseError(dir, holder.pid);
    }
    if (tries > 3) throw new Error(`the lock file ${path} cannot be replaced`);
    isIntact = holder !== null && holder.boot === me.boot && me.boot !== '';
    rmSync(path, { force: true });
  }
  held.add(path);
  const release = (): void => {
    held.delete(path);
    rmSync(path, { force: true });
  };
  return { isIntact, release };
}

function tryCreate(path: string, holder: Holder): boolean {
  try {
    writeFileSync(path, JSON.stringify(holder), { flag: 'wx', flush: true });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** null when the file is gone or says nothing, as after a crash while it was written. */
function readHolder(path: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

const isHeld = (path: string, holder: Holder): boolean =>
  holder.pid === process.pid ? held.has(path) : isAlive(holder);

/** A process counts as the holder only if it also started when the holder did: pids are used again. */
function isAlive({ pid, started, boot }: Holder): boolean {
  if (boot !== bootId()) return false;
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

/** When a process started, in clock ticks since boot; '' where the system does not tell. */
const startOf = (pid: number): string => statOf(pid)[STARTED] ?? '';

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

/** Names this run of the machine; '' where the system does not tell. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
