import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CORPUS_MAX_BYTES, corpusFolder } from './engine/corpus.ts';
import { removeScratch } from './engine/scratch.ts';
import { targetNames, unlistedTargets } from './engine/target-files.ts';
import { decoderFiles, decodersIn, pathOf, withNamed } from './inventory/decoders.ts';
import { idleDecoders, unfedFiles } from './inventory/findings.ts';
import { notOutside } from './inventory/not-outside.ts';
import type { Replayed } from './inventory/replay.ts';

const files = decoderFiles();
const CORPORA_MAX_BYTES = 256 * 1024;

let targets: readonly Replayed[] = [];

beforeAll(async () => {
  const worker = new Worker(new URL('./inventory/replay.ts', import.meta.url));
  targets = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
});
afterAll(removeScratch);

describe('the decoders that meet bytes from outside', () => {
  it('have a fuzz target each, or a reason to have none', () => {
    expect(unfedFiles(files, targets, notOutside)).toEqual([]);
  });

  it('are run by the targets that say so, with what is kept for them', () => {
    const said = targets.flatMap(({ covers }) => covers);
    expect(idleDecoders(withNamed(files, said), targets, notOutside)).toEqual([]);
  });

  it('withstand the seeds and the corpus of every target', async () => {
    expect(targets.flatMap(({ name, failures }) => failures.map((text) => `${name}: ${text}`))).toEqual([]);
    expect(targets.map(({ name }) => name)).toEqual(targetNames);
    expect(await unlistedTargets()).toEqual([]);
  });

  it('are where the targets say that they are', () => {
    const lost = targets.flatMap(({ covers }) => covers.filter((path) => !existsSync(pathOf(path))));
    expect(lost).toEqual([]);
  });

  it('have no reason that is out of date', () => {
    const known = files.flatMap(({ file, decoders }) => [
      file,
      ...decoders.map((name) => `${file}: ${name}`),
    ]);
    expect(Object.keys(notOutside).filter((one) => !known.includes(one))).toEqual([]);
  });
});

describe('the corpus', () => {
  it('is small, and belongs to targets that there are', () => {
    const stored = readdirSync(corpusFolder);
    const sizes = stored.map((file) => statSync(join(corpusFolder, file)).size);
    expect(stored.filter((file) => !targetNames.includes(file.replace(/\.txt$/, '')))).toEqual([]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(CORPUS_MAX_BYTES);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(CORPORA_MAX_BYTES);
  });
});

describe('the judge of the inventory', () => {
  it.each([
    ['a function', 'export function decodeThing(bytes: Uint8Array) {}', ['decodeThing']],
    ['an arrow', 'export const readThing = (bytes: Uint8Array) => 1;', ['readThing']],
    ['a class', 'export class ThingReader {}', []],
    ['what it calls', 'const thing = JSON.parse(text);', []],
  ])('knows a decoder by %s', (_, text, names) => {
    expect(decodersIn(text)).toEqual(names);
  });

  it('takes nothing else for one', () => {
    expect(decodersIn('export function encodeThing() {}\nexport const read = 5;')).toBeNull();
  });

  it('sees a decoder that nobody feeds, and one that is only said to be fed', () => {
    const made = [
      { file: 'a/b.ts', decoders: ['readB', 'readC'] },
      { file: 'c.ts', decoders: [] },
      { file: 'd.ts', decoders: [] },
    ];
    const target = { covers: ['a/', 'd.ts'], ran: new Map([['a/b.ts', new Set(['readB'])]]) };
    expect(unfedFiles(made, [target], {})).toEqual(['c.ts']);
    expect(unfedFiles(made, [target], { 'c.ts': 'why' })).toEqual([]);
    expect(idleDecoders(made, [target], {})).toEqual(['a/b.ts: readC', 'd.ts: nothing of it']);
  });
});
