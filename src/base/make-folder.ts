import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Whether a folder stands at the path; a file there is none. */
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Makes a folder and what is missing above it, one level at a time; a folder that is there stays as it is. In
 * place of Node's recursive `mkdirSync`, which never returns where the system answers ENOENT to a `mkdir` whose
 * parent exists, as Linux does under /proc.
 *
 * @param mode permissions of each folder that is made, before the process's umask.
 * @throws Error of the system, with its `code`: ENOENT, EPERM, EACCES or EROFS where none may be made, EEXIST
 * where something else than a folder stands in the way.
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let at = resolve(path);
  while (!isFolder(at) && dirname(at) !== at) {
    missing.push(at);
    at = dirname(at);
  }
  for (const folder of missing.reverse()) makeLevel(folder, mode);
}

function makeLevel(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(folder)) throw error;
  }
}
