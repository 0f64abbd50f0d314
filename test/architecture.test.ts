import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The floors of the house: what each folder of src/ may import. The table of ARCHITECTURE.md, enforced. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  ledger: ['base'],
  protocol: ['base', 'ledger'],
  streams: ['base', 'ledger', 'protocol'],
  access: ['base', 'protocol'],
  upstream: ['base', 'ledger', 'protocol'],
  localnet: ['base', 'ledger', 'protocol', 'streams'],
  insight: ['base', 'ledger', 'protocol'],
  servers: ['base', 'ledger', 'protocol', 'streams'],
  gateway: ['base', 'ledger', 'protocol', 'streams', 'access', 'upstream'],
  endpoints: ['base', 'ledger', 'protocol', 'insight'],
  control: ['base', 'protocol', 'access'],
  app: [
    'base',
    'ledger',
    'protocol',
    'streams',
    'access',
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

const root = join(import.meta.dirname, '..', 'src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('.bench.ts'))
  .sort();

/** Matches import and export-from statements as well as dynamic imports of relative files. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b(?<clause>[^'"`;]*?)from\s+'(?<from>\.[^']+)'|import\(\s*'(?<lazy>\.[^']+)'\s*\)/g;

function importsOf(file: string): { to: string; runtime: boolean }[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(IMPORT)].map(({ groups }) => ({
    to: relative(root, join(root, dirname(file), groups?.from ?? groups?.lazy ?? '')),
    runtime: !/^\s*type\b/.test(groups?.clause ?? ''),
  }));
}

const graph = new Map(files.map((file) => [file, importsOf(file)]));
const floorOf = (file: string): string => file.split('/')[0] ?? '';

function findLoop(): string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    path.push(file);
    for (const { to } of graph.get(file) ?? []) {
      const loop = visit(to);
      if (loop !== null) return loop;
    }
    path.pop();
    done.add(file);
    return null;
  };
  for (const file of files) {
    const loop = visit(file);
    if (loop !== null) return loop;
  }
  return null;
}

describe('the house', () => {
  it('has only the floors that are drawn', () => {
    expect(files.filter((file) => !(floorOf(file) in mayImport))).toEqual([]);
  });

  it('lets imports point down only', () => {
    const upward = files.flatMap((file) =>
      importsOf(file)
        .filter(({ to }) => floorOf(to) !== floorOf(file))
        .filter(({ to }) => !mayImport[floorOf(file)]?.includes(floorOf(to)))
        .map(({ to }) => `${file} imports ${to}`),
    );
    expect(upward).toEqual([]);
  });

  it('imports only files that exist', () => {
    const missing = files.flatMap((file) =>
      importsOf(file)
        .filter(({ to }) => to.endsWith('.ts') && !graph.has(to))
        .map(({ to }) => `${file} imports ${to}`),
    );
    expect(missing).toEqual([]);
  });

  it('has no import loops, not even of types', () => {
    expect(findLoop()).toBeNull();
  });

  it('sees the imports it judges', () => {
    expect([...graph.values()].flat().length).toBeGreaterThan(files.length / 2);
  });
});
