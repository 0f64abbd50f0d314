import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLoop, importsIn, longestChain, readImportGraph } from './project/import-graph.ts';
import { mayImport } from './project/layers.ts';

const root = join(import.meta.dirname, '..');
const graph = readImportGraph(root);
const files = [...graph.keys()];
/** `src/base/…` belongs to the layer base, `packages/localnet/src/…` to localnet. */
const layerOf = (file: string): string => file.split('/')[1] ?? '';

describe('the layers', () => {
  it('are all in the table', () => {
    expect(files.filter((file) => !(layerOf(file) in mayImport))).toEqual([]);
  });

  it('import lower layers only', () => {
    const upward = files.flatMap((file) =>
      (graph.get(file) ?? [])
        .filter((to) => layerOf(to) !== layerOf(file))
        .filter((to) => !mayImport[layerOf(file)]?.includes(layerOf(to)))
        .map((to) => `${file} imports ${to}`),
    );
    expect(upward).toEqual([]);
  });

  it('import files that exist', () => {
    const missing = files.flatMap((file) =>
      (graph.get(file) ?? [])
        .filter((to) => to.endsWith('.ts') && !graph.has(to))
        .map((to) => `${file} imports ${to}`),
    );
    expect(missing).toEqual([]);
  });

  it('have no import cycles, not even of types', () => {
    expect(findLoop(graph)).toBeNull();
  });

  it('have no static import chain of more than 20 files, types included', () => {
    const chain = longestChain(readImportGraph(root, { dynamic: false }));
    expect(chain.length, chain.join('\n')).toBeLessThanOrEqual(20);
  });
});

describe('the import graph', () => {
  it('finds imports of every form', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type {\n  B,\n} from '../b.ts';",
      "export { c } from './c.ts';",
      "import './d.ts';",
      "const e = () => import('./e.ts');",
      "import x from 'package';",
    ].join('\n');
    expect(importsIn('layer/file.ts', text)).toEqual([
      'layer/a.ts',
      'b.ts',
      'layer/c.ts',
      'layer/d.ts',
      'layer/e.ts',
    ]);
  });

  it('finds a cycle', () => {
    expect(
      findLoop(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', ['b']],
        ]),
      ),
    ).toEqual(['b', 'c', 'b']);
  });

  it('finds the longest chain', () => {
    expect(
      longestChain(
        new Map([
          ['a', ['d', 'b']],
          ['b', ['c', 'd']],
          ['c', ['d']],
        ]),
      ),
    ).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is read from the source files', () => {
    expect([...graph.values()].flat().length).toBeGreaterThan(files.length);
  });
});
