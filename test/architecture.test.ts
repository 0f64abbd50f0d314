import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLoop, importsIn, readImportGraph } from './project/import-graph.ts';

/** The floors of the house: what each folder of src/ may import. The table of ARCHITECTURE.md, enforced. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  ledger: ['base'],
  http1: ['base'],
  protocol: ['base', 'ledger'],
  streams: ['base', 'ledger', 'protocol'],
  access: ['base', 'protocol'],
  observe: ['base', 'protocol', 'access'],
  upstream: ['base', 'ledger', 'protocol', 'streams', 'http1'],
  localnet: ['base', 'ledger', 'protocol', 'streams'],
  insight: ['base', 'ledger', 'protocol'],
  servers: ['base', 'ledger', 'protocol', 'streams', 'http1'],
  gateway: ['base', 'ledger', 'protocol', 'streams', 'access', 'observe', 'upstream'],
  endpoints: ['base', 'ledger', 'protocol', 'insight'],
  control: ['base', 'ledger', 'protocol', 'access', 'observe'],
  app: [
    'base',
    'ledger',
    'http1',
    'protocol',
    'streams',
    'access',
    'observe',
    'upstream',
    'localnet',
    'insight',
    'servers',
    'gateway',
    'endpoints',
    'control',
  ],
  cli: ['base', 'app'],
};

const graph = readImportGraph(join(import.meta.dirname, '..', 'src'));
const files = [...graph.keys()];
const floorOf = (file: string): string => file.split('/')[0] ?? '';

describe('the house', () => {
  it('has only the floors that are drawn', () => {
    expect(files.filter((file) => !(floorOf(file) in mayImport))).toEqual([]);
  });

  it('lets imports point down only', () => {
    const upward = files.flatMap((file) =>
      (graph.get(file) ?? [])
        .filter((to) => floorOf(to) !== floorOf(file))
        .filter((to) => !mayImport[floorOf(file)]?.includes(floorOf(to)))
        .map((to) => `${file} imports ${to}`),
    );
    expect(upward).toEqual([]);
  });

  it('imports only files that exist', () => {
    const missing = files.flatMap((file) =>
      (graph.get(file) ?? [])
        .filter((to) => to.endsWith('.ts') && !graph.has(to))
        .map((to) => `${file} imports ${to}`),
    );
    expect(missing).toEqual([]);
  });

  it('has no import loops, not even of types', () => {
    expect(findLoop(graph)).toBeNull();
  });
});

describe('the judge of the house', () => {
  it('sees imports of every form', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type {\n  B,\n} from '../b.ts';",
      "export { c } from './c.ts';",
      "import './d.ts';",
      "const e = () => import('./e.ts');",
      "import x from 'package';",
    ].join('\n');
    expect(importsIn('floor/file.ts', text)).toEqual([
      'floor/a.ts',
      'b.ts',
      'floor/c.ts',
      'floor/d.ts',
      'floor/e.ts',
    ]);
  });

  it('sees a loop', () => {
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

  it('reads the house that it judges', () => {
    expect([...graph.values()].flat().length).toBeGreaterThan(files.length);
  });
});
