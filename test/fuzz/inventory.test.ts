import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CORPUS_MAX_BYTES, corpusFolder } from './engine/corpus.ts';
import { removeScratch } from './engine/scratch.ts';
import { targetNames } from './engine/target-files.ts';
import { decoderFiles, decodersIn, idleDecoders } from './inventory/decoders.ts';
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
}, 300_000);
afterAll(removeScratch);

describe('decoders of untrusted bytes', () => {
  it('are run by a fuzz target with its seeds and corpus, or are excluded with a reason', () => {
    expect(idleDecoders(files, targets, notOutside)).toEqual([]);
  });

  it('do not fail on the seeds and the corpus of any target', () => {
    expect(targets.flatMap(({ name, failures }) => failures.map((text) => `${name}: ${text}`))).toEqual([]);
    expect(targets.map(({ name }) => name)).toEqual(targetNames);
  });

  it('have no outdated reasons', () => {
    const known = files.flatMap(({ file, decoders }) => [
      file,
      ...decoders.map((name) => `${file}: ${name}`),
    ]);
    expect(Object.keys(notOutside).filter((one) => !known.includes(one))).toEqual([]);
  });
});

describe('the corpus', () => {
  it('is small and belongs to existing targets', () => {
    const stored = readdirSync(corpusFolder);
    const sizes = stored.map((file) => statSync(join(corpusFolder, file)).size);
    expect(stored.filter((file) => !targetNames.includes(file.replace(/\.txt$/, '')))).toEqual([]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(CORPUS_MAX_BYTES);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(CORPORA_MAX_BYTES);
  });
});

describe('the inventory', () => {
  it('recognizes decoders by their names and calls', () => {
    const texts = [
      'export function decodeThing(bytes: Uint8Array) {}\nexport const readThing = (bytes: Uint8Array) => 1;',
      'const thing = JSON.parse(text);',
      'export function encodeThing() {}\nexport const read = 5;',
    ];
    expect(texts.map(decodersIn)).toEqual([['decodeThing', 'readThing'], [], null]);
  });

  it('reports decoders that no target runs', () => {
    const made = [
      { file: 'a/b.ts', decoders: ['readB', 'readC'] },
      { file: 'c.ts', decoders: [] },
      { file: 'd.ts', decoders: [] },
    ];
    const target = { ran: new Map([['a/b.ts', new Set(['readB'])]]) };
    expect(idleDecoders(made, [target], { 'c.ts': 'why' })).toEqual(['a/b.ts: readC', 'd.ts: nothing of it']);
  });
});
