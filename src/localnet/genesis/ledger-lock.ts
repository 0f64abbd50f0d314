import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { bootId, identityOf, isRunning } from '../../base/process-identity.ts';

const FILE = 'ledger.lock';

const processSchema = z.object({ pid: z.number(), started: z.string() });
const holderSchema = processSchema.extend({
  boot: z.string(),
  /** Who started the holder: the gateway, for the ledger of one. Locks of before do not say. */
  parent: processSchema.optional(),
});
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

/** Another process has the ledger open. */
export class LedgerInUseError extends Error {
  /** The process that has it. */
  readonly pid: number;
  /**
   * Whether the process that started the holder is gone. The ledger of a gateway ends by itself then, so that
   * waiting is worth while; a holder that is no orphan keeps the ledger until somebody stops it.
   */
  readonly holderIsOrphan: boolean;

  constructor(dir: string, pid: number, holderIsOrphan: boolean) {
    super(
      `the ledger directory ${dir} is in use by process ${pid}: end it, or name another folder with --ledger or --data-dir`,
    );
    this.name = 'LedgerInUseError';
    this.pid = pid;
    this.holderIsOrphan = holderIsOrphan;
  }
}

/**
 * Takes a ledger directory for this process. A lock whose process is gone is taken over, by one of those who try.
 * @throws LedgerInUseError when another process has it.
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
/** Locks beside locks: each stands there because a process died while it took another over. */
const TURNS_MAX = 3;

/** @returns whose lock was replaced; null when that said nothing, as one that a crash of the machine tore. */
function take(dir: string, path: string, me: Holder, turns = 0): Holder | null | 'free' {
  // What the lock will say stands in a file of its own first, so that nobody ever reads half a lock.
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
 * Puts the draft in the place of a lock that was left behind. That takes the lock beside it: of two who found the
 * same, one is refused or finds the other's, and nobody replaces the lock of a process that lives.
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

/** @throws LedgerInUseError when the holder of this lock lives. */
function refuseIfHeld(dir: string, path: string, holder: Holder | null | 'gone'): void {
  if (holder === null || holder === 'gone') return;
  const isHeld = holder.pid === process.pid ? held.has(path) : isAlive(holder);
  if (!isHeld) return;
  const { parent, boot } = holder;
  throw new LedgerInUseError(dir, holder.pid, parent !== undefined && !isAlive({ ...parent, boot }));
}

/** A process of an earlier run of the machine is gone. */
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

/** 'gone' when there is no such lock, null when it says nothing. */
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
