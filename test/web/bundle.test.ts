import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildWhenNeeded } from '../../web/build.ts';

const dist = join(import.meta.dirname, '../../web/dist');
const assets = join(dist, 'assets');

/** Compressed script bytes that a page may load. */
const PAGE_MAX_BYTES = 300_000;

const importsOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name]) => name as string);

function withImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = readFileSync(join(assets, name), 'utf8');
  for (const next of importsOf(text, /(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) withImports(next, seen);
  return seen;
}

const compressed = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + statSync(join(assets, `${name}.br`)).size, 0);

describe('the bundle of the dashboard', () => {
  let scripts: string[] = [];
  let entry = '';

  beforeAll(async () => {
    await buildWhenNeeded();
    scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
    entry =
      importsOf(
        readFileSync(join(dist, 'dashboard.html'), 'utf8'),
        /src="\/assets\/(dashboard-[\w-]+\.js)"/g,
      )[0] ?? '';
  });

  it('loads at most 300 kB of compressed script per page, charts included', () => {
    const pages = scripts.filter((name) => name.includes('-page-'));
    expect(pages.length).toBeGreaterThan(15);
    const drawing = scripts.filter((name) => /^plot-/.test(name));
    const sizes = pages.map((name) => {
      const all = withImports(name, withImports(entry));
      for (const plot of drawing) withImports(plot, all);
      return [name.replace(/-[\w-]{8}\.js$/, ''), compressed(all)] as const;
    });
    console.info(sizes.map(([name, bytes]) => `${name} ${(bytes / 1000).toFixed(0)} kB`).join(', '));
    expect(sizes.filter(([, bytes]) => bytes > PAGE_MAX_BYTES)).toEqual([]);
  });

  it('contains no server code and no development build', () => {
    const all = scripts.map((name) => readFileSync(join(assets, name), 'utf8')).join('\n');
    expect(all).not.toContain('ZodError');
    expect(all).not.toContain('React DevTools');
  });
});
