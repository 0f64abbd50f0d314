import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of this process, for targets that read files. */
const folder = join(tmpdir(), `solway-fuzz-${process.pid}`);

/** A folder in it, which is there. */
export function scratchFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Removes all of it. */
export const removeScratch = (): void => rmSync(folder, { recursive: true, force: true });
