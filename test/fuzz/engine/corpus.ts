import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A file per target with inputs that have more coverage than its seeds: one per line, in base64, the shortest first.
 * `npm run fuzz -- --update` writes them.
 */
export const corpusFolder = join(import.meta.dirname, '..', 'corpus');

export const CORPUS_MAX_BYTES = 5_000;

const fileOf = (name: string): string => join(corpusFolder, `${name}.txt`);

export function readCorpus(name: string): Uint8Array[] {
  if (!existsSync(fileOf(name))) return [];
  const lines = readFileSync(fileOf(name), 'latin1').split('\n');
  return lines.filter((line) => line !== '').map((line) => Uint8Array.from(Buffer.from(line, 'base64')));
}

export function fitting(inputs: readonly Uint8Array[]): Uint8Array[] {
  let left = CORPUS_MAX_BYTES;
  return inputs.filter((input) => {
    const bytes = Math.ceil(input.length / 3) * 4 + 1;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}

export function writeCorpus(name: string, inputs: readonly Uint8Array[]): void {
  const lines = inputs.map((input) => `${Buffer.from(input).toString('base64')}\n`);
  if (lines.length > 0) writeFileSync(fileOf(name), lines.join(''));
  else rmSync(fileOf(name), { force: true });
}
