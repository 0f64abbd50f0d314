import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FuzzTarget, Target } from './target.ts';

const folder = join(import.meta.dirname, '..', 'targets');

const nameOf = (exported: string): string =>
  exported.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type Exported = readonly [target: string, place: Readonly<{ file: string; exported: string }>];

/** The files of test/fuzz/targets are read, not loaded: some start servers. */
const exportedBy = (file: string): Exported[] =>
  [...readFileSync(join(folder, file), 'utf8').matchAll(/^export const (\w+)Target\b/gm)].map(
    ([, exported = '']) => [nameOf(exported), { file, exported: `${exported}Target` }],
  );

const places = new Map(readdirSync(folder).flatMap(exportedBy));

export const targetNames: readonly string[] = [...places.keys()].sort();

export async function loadTarget(name: string): Promise<FuzzTarget> {
  const { file, exported } = places.get(name)!;
  const exports: Record<string, Target> = await import(join(folder, file));
  return { name, ...exports[exported]! };
}
