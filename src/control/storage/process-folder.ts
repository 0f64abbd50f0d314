import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';
import { bootId, identityOf, isRunning } from '../../base/process-identity.ts';

/** `<run of the machine>.<pid>.<when the process started>.<folder of it>`; the first and third may be unknown. */
const NAME = /^([\w-]*)\.(\d{1,10})\.(\d*)\.[\w-]{36}$/;

/** Names of those that this very process has: its pid alone cannot tell them from those of an earlier life. */
const ownFolders = new Set<string>();

/** A folder of this process alone, among those of others. */
export type ProcessFolder = Readonly<{
  path: string;
  /** Whether no other process that lives had one when this was opened. */
  isAlone: boolean;
  /** Removes it, with what is in it. Never rejects. */
  close(): Promise<void>;
}>;

/** Whose folder it is: of this process, of another that lives, or of none. */
function ownershipOf(name: string): 'me' | 'another' | null {
  if (ownFolders.has(name)) return 'me';
  const [, boot, pid, started = ''] = NAME.exec(name) ?? [];
  const lives =
    pid !== undefined &&
    Number(pid) !== process.pid &&
    boot === bootId() &&
    isRunning({ pid: Number(pid), started });
  return lives ? 'another' : null;
}

/**
 * Makes a folder for this process below the one that is named, and removes whatever else is there, but for the folders
 * of processes of this machine that live. @throws Error of the file system.
 */
export async function openProcessFolder(parent: string): Promise<ProcessFolder> {
  const { pid, started } = identityOf(process.pid);
  const name = `${bootId()}.${pid}.${started}.${randomUUID()}`;
  const path = join(parent, name);
  ownFolders.add(name);
  makeFolder(path, 0o700);
  let isAlone = true;
  for (const other of await readdir(parent)) {
    const ownership = ownershipOf(other);
    if (ownership === 'another') isAlone = false;
    if (ownership === null) await rm(join(parent, other), { recursive: true, force: true });
  }
  const close = async (): Promise<void> => {
    ownFolders.delete(name);
    // What comes in this moment may stand in the way: the next to open removes the rest.
    await rm(path, { recursive: true, force: true }).catch(() => {});
  };
  return { path, isAlone, close };
}
