import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bootId, identityOf, isRunning } from '../../base/process-identity.ts';

/** `<run of the machine>.<pid>.<when the process started>.<epoch>.jsonl`; the first and third may be unknown. */
const NAME = /^([\w-]*)\.(\d{1,10})\.(\d*)\.([\w-]{36})\.jsonl(\.new)?$/;

/** Epochs of this very process: its pid alone cannot tell them from those of an earlier life. */
const ownEpochs = new Set<string>();

/** A journal of a process that is gone. */
export type OrphanedJournal = Readonly<{ path: string; epoch: string }>;

/** The name of this process's journal for an epoch. */
export function journalName(epoch: string): string {
  const { pid, started } = identityOf(process.pid);
  ownEpochs.add(epoch);
  return `${bootId()}.${pid}.${started}.${epoch}.jsonl`;
}

/** This process writes no more for the epoch: what it left behind may be taken up. */
export function releaseJournal(epoch: string): void {
  ownEpochs.delete(epoch);
}

function isHeld(boot: string, pid: number, started: string, epoch: string): boolean {
  if (ownEpochs.has(epoch)) return true;
  return pid !== process.pid && boot === bootId() && isRunning({ pid, started });
}

/** The journals in a folder whose processes live no more; drafts of such are removed. None where there is no folder. */
export async function findOrphanedJournals(folder: string): Promise<OrphanedJournal[]> {
  const orphaned: OrphanedJournal[] = [];
  for (const name of await namesIn(folder)) {
    const [, boot = '', pid, started = '', epoch = '', draft] = NAME.exec(name) ?? [];
    if (pid === undefined || isHeld(boot, Number(pid), started, epoch)) continue;
    const path = join(folder, name);
    if (draft === undefined) orphaned.push({ path, epoch });
    else await rm(path, { force: true });
  }
  return orphaned;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
