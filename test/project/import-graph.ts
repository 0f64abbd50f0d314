import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Imports of each product file, by path relative to the project root. Read from the text, without running it. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Import and export-from statements, and side-effect imports, of relative files. */
const STATIC_IMPORT = /(?:^|\n)\s*(?:import|export)\b(?:[^'"`;]*?from)?\s+'(?<path>\.[^']+)'/g;
const DYNAMIC_IMPORT = /import\s*\(\s*'(?<path>\.[^']+)'/g;

/** Dynamic imports are last, or left out. */
export function importsIn(file: string, text: string, { dynamic = true } = {}): string[] {
  return [...text.matchAll(STATIC_IMPORT), ...(dynamic ? text.matchAll(DYNAMIC_IMPORT) : [])].map(
    ({ groups }) => relative('.', join(dirname(file), groups?.path ?? '')),
  );
}

/** The import graph of the product, without tests and benchmarks. */
export function readImportGraph(root: string, options?: Readonly<{ dynamic: boolean }>): ImportGraph {
  const files = ['src', 'packages/localnet/src']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}/${file}`,
      ),
    )
    .filter((file) => file.endsWith('.ts') && !/\.(test|bench)\.ts$/.test(file))
    .sort();
  return new Map(
    files.map((file) => [file, importsIn(file, readFileSync(join(root, file), 'utf8'), options)]),
  );
}

export function unreachable(graph: ImportGraph, from: readonly string[]): string[] {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const to of graph.get(file) ?? []) visit(to);
  };
  from.forEach(visit);
  return [...graph.keys()].filter((file) => !reached.has(file));
}

/** The longest path along imports. The graph must not have cycles. */
export function longestChain(graph: ImportGraph): readonly string[] {
  const longer = (a: readonly string[], b: readonly string[]): readonly string[] =>
    b.length > a.length ? b : a;
  const chains = new Map<string, readonly string[]>();
  const chainFrom = (file: string): readonly string[] => {
    const known = chains.get(file);
    if (known !== undefined) return known;
    const chain = [file, ...(graph.get(file) ?? []).map(chainFrom).reduce(longer, [])];
    chains.set(file, chain);
    return chain;
  };
  return [...graph.keys()].map(chainFrom).reduce(longer, []);
}

/** The first import cycle, including type imports; null if there is none. */
export function findLoop(graph: ImportGraph): string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    path.push(file);
    for (const to of graph.get(file) ?? []) {
      const loop = visit(to);
      if (loop !== null) return loop;
    }
    path.pop();
    done.add(file);
    return null;
  };
  for (const file of graph.keys()) {
    const loop = visit(file);
    if (loop !== null) return loop;
  }
  return null;
}
