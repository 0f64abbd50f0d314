import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest folder with a package.json: the root of the sources, or of the installed package. */
export const PACKAGE_ROOT: string = rootOf(import.meta.dirname);

/** The version in package.json. */
export const PROGRAM_VERSION: string = JSON.parse(
  readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'),
).version;

function rootOf(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootOf(dirname(folder));
}
