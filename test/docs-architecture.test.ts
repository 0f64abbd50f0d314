import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mayImport } from './project/layers.ts';
import { pages, read, root, table } from './project/pages.ts';

/** Module paths are relative to the root, to src/, or to packages/ without the package's src/. */
const isModule = (name: string): boolean =>
  [name, join('src', name), join('packages', name.replace('/', '/src/'))].some((path) =>
    existsSync(join(root, path)),
  );

describe('ARCHITECTURE.md', () => {
  it('gives a reason for every dependency, and names no other', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    const section =
      read('ARCHITECTURE.md')
        .split(/^## Dependencies$/m)[1]
        ?.split(/^## /m)[0] ?? '';
    const [atRun = '', forWork = '', forDashboard = ''] = section.split(
      /For development:|The dashboard's own/,
    );
    const names = (text: string): string[] =>
      [...text.matchAll(/^\| (\S+) \| \S.* \|$/gm)]
        .map(([, name = '']) => name)
        .filter((name) => name !== 'package');
    expect(names(atRun).sort()).toEqual(Object.keys(dependencies).sort());
    expect(names(forWork).sort()).toEqual(Object.keys(devDependencies).sort());
    const web = JSON.parse(read('web/package.json'));
    expect(names(forDashboard).sort()).toEqual(Object.keys(web.devDependencies).sort());
  });

  it('has the layers that are enforced', () => {
    const below = (cell: string): string[] => (cell === '–' ? [] : cell.split(', '));
    const rows = table('ARCHITECTURE.md', 'Layers');
    expect(rows.map(([, folder]) => folder).sort()).toEqual(
      [...readdirSync(join(root, 'src')), ...readdirSync(join(root, 'packages'))].sort(),
    );
    for (const [, folder = '', , may = ''] of rows) {
      if (may !== 'all below') expect([folder, below(may)]).toEqual([folder, mayImport[folder]]);
    }
  });

  it('names existing files', () => {
    const names = [
      ...read('ARCHITECTURE.md').matchAll(/(?<![\w*-])((?:[\w.-]+\/)+[\w-]+(?:\.\w+)*\.ts)\b/g),
    ].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !isModule(name))).toEqual([]);
  });
});

describe('paths in the documentation', () => {
  it('exist', () => {
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:src|packages|test|packaging|config|proto|web)\/[\w./-]*)`/g)].map(
        ([, path = '']) => ({ page, path }),
      ),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('of the glossary are modules', () => {
    const rows = table('docs/reference/glossary.md', 'Glossary');
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter(([, meaning]) => !meaning)).toEqual([]);
    expect(rows.filter(([, , module = '']) => !isModule(module))).toEqual([]);
    const terms = rows.map(([term = '']) => term.toLowerCase());
    expect(terms).toEqual(terms.toSorted());
  });
});
