import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Values of the `@NAME@` placeholders of a template. */
export type Blanks = Readonly<Record<string, string | number | boolean>>;

/**
 * Fills in a configuration template and writes it into a folder.
 * @returns the file.
 */
export function writeConfigFile(template: string, dir: string, blanks: Blanks): string {
  mkdirSync(dir, { recursive: true });
  const text = readFileSync(template, 'utf8').replaceAll(/@([A-Z_]+)@/g, (_, name: string) => {
    if (!Object.hasOwn(blanks, name)) throw new Error(`no value for @${name}@`);
    return String(blanks[name]);
  });
  const file = join(dir, basename(template));
  writeFileSync(file, text);
  return file;
}
