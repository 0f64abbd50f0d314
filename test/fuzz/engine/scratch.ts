import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, where available. */
const MEMORY = '/dev/shm';

/** A folder of this process, for targets that read files. */
const folder = join(existsSync(MEMORY) ? MEMORY : tmpdir(), `solway-fuzz-${process.pid}`);

export function scratchFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

export const removeScratch = (): void => rmSync(folder, { recursive: true, force: true });
