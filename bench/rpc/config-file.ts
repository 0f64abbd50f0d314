import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What is filled into a configuration, by the name that stands between two @ there. */
export type Blanks = Readonly<Record<string, string | number | boolean>>;

/**
 * Writes a configuration into a folder, which is made.
 * @param template - the file with the names.
 * @returns the file.
 */
export function writeConfigFile(template: string, dir: string, blanks: Blanks): string {
  mkdirSync(dir, { recursive: true });
  const text = readFileSync(template, 'utf8').replaceAll(/@([A-Z_]+)@/g, (_, name: string) => {
    if (!Object.hasOwn(blanks, name)) throw new Error(`nothing is to be filled in for ${name}`);
    return String(blanks[name]);
  });
  const file = join(dir, basename(template));
  writeFileSync(file, text);
  return file;
}
