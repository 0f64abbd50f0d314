import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { bootId, identityOf, isRunning } from '../../../../src/base/process-identity.ts';

const FILE = 'ledger.lock';

const processSchema = z.object({ pid: z.number(), started: z.string() });
const holderSchema = processSchema.extend({
  boot: z.string(),
  /** Parent process of the holder, such as the gateway that started the ledger. Absent in old locks. */
  parent: processSchema.optional(),
});
type Holder = z.infer<typeof holderSchema>;

/** Lock files held by this process. A stale lock may have the same pid. */
const held = new Set<string>();

export type LedgerLock = Readonly<{
  /**
   * Whether the last shutdown was clean, or at least the machine did not crash. Otherwise the newest slots may
   * be lost.
   */
  wasCleanShutdown: boolean;
  release: () => void;
}>;

export class LedgerInUseError extends Error {
  /** Process that holds the lock. */
  readonly pid: number;
  /** Whether the holder's parent has exited. The ledger of a gateway then stops by itself, so a retry succeeds. */
  readonly holderIsOrphan: boolean;

  constructor(dir: string, pid: number, holderIsOrphan: boolean) {
    super(
      `ledger directory ${dir} is in use by process ${pid}: stop it, or choose another directory with --ledger or --data-dir`,
    );
    this.name = 'LedgerInUseError';
    this.pid = pid;
    this.holderIsOrphan = holderIsOrphan;
  }
}

/**
 * Locks a ledger directory. Exactly one process can take over a stale lock.
 * @throws LedgerInUseError if a running process holds the lock.
 */
export function lockLedger(dir: string): LedgerLock {
  const path = join(dir, FILE);
  const own: Holder = { ...identityOf(process.pid), boot: bootId(), parent: identityOf(process.ppid) };
  const before = acquire(dir, path, own);
  const wasCleanShutdown =
    before === 'free' || (before !== null && before.boot === own.boot && own.boot !== '');
  return { wasCleanShutdown, release: () => release(path) };
}

function release(path: string): void {
  held.delete(path);
  rmSync(path, { force: true });
}

const TRIES_MAX = 4;
/** Maximum depth of nested locks. Each level was left by a process that died during a takeover. */
const NESTING_MAX = 3;

/**
 * Acquires a lock.
 * @returns the previous holder; null if its lock was unreadable, as after a machine crash.
 */
function acquire(dir: string, path: string, own: Holder, depth = 0): Holder | null | 'free' {
  // Written to a temporary file first, so that no process reads a partial lock.
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify(own), { flush: true });
  try {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const before = tryLink(draft, path) ? 'free' : replaceStale(dir, path, draft, own, depth);
      if (before === 'missing') continue;
      held.add(path);
      return before;
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new Error(`failed to replace the lock file ${path}`);
}

/**
 * Replaces a stale lock under a nested lock, so that only one process succeeds and a live lock is never
 * replaced.
 */
function replaceStale(
  dir: string,
  path: string,
  draft: string,
  own: Holder,
  depth: number,
): Holder | null | 'missing' {
  throwIfHeld(dir, path, readHolder(path));
  if (depth === NESTING_MAX) return 'missing';
  const nested = `${path}.turn`;
  acquire(dir, nested, own, depth + 1);
  try {
    const stale = readHolder(path);
    throwIfHeld(dir, path, stale);
    if (stale !== 'missing') renameSync(draft, path);
    return stale;
  } finally {
    release(nested);
  }
}

/** @throws LedgerInUseError if the holder is running. */
function throwIfHeld(dir: string, path: string, holder: Holder | null | 'missing'): void {
  if (holder === null || holder === 'missing') return;
  const isHeld = holder.pid === process.pid ? held.has(path) : isAlive(holder);
  if (!isHeld) return;
  const { parent, boot } = holder;
  throw new LedgerInUseError(dir, holder.pid, parent !== undefined && !isAlive({ ...parent, boot }));
}

/** No process from before a reboot is alive. */
const isAlive = (holder: Holder): boolean => holder.boot === bootId() && isRunning(holder);

function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** 'missing' if there is no lock; null if it is unreadable. */
function readHolder(path: string): Holder | null | 'missing' {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
