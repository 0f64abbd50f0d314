import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { bootId, identityOf, isRunning } from '../../../../src/base/process-identity.ts';

const FILE = 'ledger.lock';

const processSchema = z.object({ pid: z.number(), started: z.string() });
const holderSchema = processSchema.extend({
  boot: z.string(),
  /** Starter of the holder: the gateway, for its embedded ledger. Absent in old locks. */
  parent: processSchema.optional(),
});
type Holder = z.infer<typeof holderSchema>;

/** Locks of this process: a pid alone cannot tell them from stale ones. */
const held = new Set<string>();

export type LedgerLock = Readonly<{
  /**
   * Whether the last holder closed cleanly or died while the machine kept running. Otherwise the newest
   * slots may be lost.
   */
  isIntact: boolean;
  release: () => void;
}>;

export class LedgerInUseError extends Error {
  /** Holder. */
  readonly pid: number;
  /** Whether the holder's starter is gone. A gateway's ledger then stops by itself, so waiting helps. */
  readonly holderIsOrphan: boolean;

  constructor(dir: string, pid: number, holderIsOrphan: boolean) {
    super(
      `the ledger directory ${dir} is in use by process ${pid}: stop it, or choose another directory with --ledger or --data-dir`,
    );
    this.name = 'LedgerInUseError';
    this.pid = pid;
    this.holderIsOrphan = holderIsOrphan;
  }
}

/**
 * Locks a ledger directory. A stale lock is taken over by exactly one process.
 * @throws LedgerInUseError when a live process holds it.
 */
export function lockLedger(dir: string): LedgerLock {
  const path = join(dir, FILE);
  const me: Holder = { ...identityOf(process.pid), boot: bootId(), parent: identityOf(process.ppid) };
  const before = take(dir, path, me);
  const isIntact = before === 'free' || (before !== null && before.boot === me.boot && me.boot !== '');
  return { isIntact, release: () => release(path) };
}

function release(path: string): void {
  held.delete(path);
  rmSync(path, { force: true });
}

const TRIES_MAX = 4;
/** Nested locks: each was left by a process that died during a takeover. */
const TURNS_MAX = 3;

/** @returns the replaced holder; null when its lock was unreadable, as after a machine crash. */
function take(dir: string, path: string, me: Holder, turns = 0): Holder | null | 'free' {
  // Written to a draft first, so that nobody reads half a lock.
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify(me), { flush: true });
  try {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const before = tryLink(draft, path) ? 'free' : replaceStale(dir, path, draft, me, turns);
      if (before === 'gone') continue;
      held.add(path);
      return before;
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new Error(`the lock file ${path} cannot be replaced`);
}

/**
 * Replaces a stale lock under a nested lock, so that only one process succeeds and a live lock is never
 * replaced.
 */
function replaceStale(
  dir: string,
  path: string,
  draft: string,
  me: Holder,
  turns: number,
): Holder | null | 'gone' {
  refuseIfHeld(dir, path, readHolder(path));
  if (turns === TURNS_MAX) return 'gone';
  const turn = `${path}.turn`;
  take(dir, turn, me, turns + 1);
  try {
    const stale = readHolder(path);
    refuseIfHeld(dir, path, stale);
    if (stale !== 'gone') renameSync(draft, path);
    return stale;
  } finally {
    release(turn);
  }
}

/** @throws LedgerInUseError when the holder is alive. */
function refuseIfHeld(dir: string, path: string, holder: Holder | null | 'gone'): void {
  if (holder === null || holder === 'gone') return;
  const isHeld = holder.pid === process.pid ? held.has(path) : isAlive(holder);
  if (!isHeld) return;
  const { parent, boot } = holder;
  throw new LedgerInUseError(dir, holder.pid, parent !== undefined && !isAlive({ ...parent, boot }));
}

/** Processes before a reboot are gone. */
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

/** 'gone' without a lock, null when unreadable. */
function readHolder(path: string): Holder | null | 'gone' {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone';
    throw error;
  }
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
