import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type FuzzTarget, targetOf } from './target.ts';

/** test/fuzz: every file in it but the program and the tests is a target. */
const folder = join(import.meta.dirname, '..');

export const targetNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts' && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -3))
  .sort();

/** Runs a target's file. @throws TypeError where it is no target. */
export async function loadTarget(name: string): Promise<FuzzTarget> {
  return targetOf(name, await import(pathToFileURL(join(folder, `${name}.ts`)).href));
}
