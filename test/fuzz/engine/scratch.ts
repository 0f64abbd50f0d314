import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where nothing reaches a disk, on a machine that has such a place: what is written is wanted for a moment only. */
const MEMORY = '/dev/shm';

/** A folder of this process, for targets that read files. */
const folder = join(existsSync(MEMORY) ? MEMORY : tmpdir(), `solway-fuzz-${process.pid}`);

/** A folder in it, which is there. */
export function scratchFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Removes all of it. */
export const removeScratch = (): void => rmSync(folder, { recursive: true, force: true });
