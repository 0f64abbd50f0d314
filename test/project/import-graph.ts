import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Imports of each product file, by path relative to the project root. Read from the text, without running it. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Import and export-from statements, side-effect imports, and dynamic imports of relative files. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s+'(?<from>\.[^']+)'|import\s*\(?\s*'(?<lazy>\.[^']+)'/g;

export function importsIn(file: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(({ groups }) =>
    relative('.', join(dirname(file), groups?.from ?? groups?.lazy ?? '')),
  );
}

/** The import graph of the product, without tests and benchmarks. */
export function readImportGraph(root: string): ImportGraph {
  const files = ['src', 'packages/localnet/src']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}/${file}`,
      ),
    )
    .filter((file) => file.endsWith('.ts') && !/\.(test|bench)\.ts$/.test(file))
    .sort();
  return new Map(files.map((file) => [file, importsIn(file, readFileSync(join(root, file), 'utf8'))]));
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
