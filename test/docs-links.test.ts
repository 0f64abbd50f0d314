import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pages, read, root, withoutCode } from './project/pages.ts';

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (file: string): string[] =>
  [...withoutCode(read(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

/** Generated from the configuration schema; tested separately. */
const CONFIGURATION = 'docs/reference/configuration.md';

const links = pages
  .flatMap((page) =>
    [...withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(
      ([, path = '', anchor]) => ({ page, file: path === '' ? page : join(dirname(page), path), anchor }),
    ),
  )
  .filter(({ file }) => file !== CONFIGURATION || existsSync(join(root, CONFIGURATION)));

const sources = ['src', 'packages/localnet/src', 'packaging', 'bin'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|js|service)$|Dockerfile$/.test(name))
    .map((name) => `${folder}/${name}`),
);

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /\w/.test(word)).length;

describe('links in the documentation', () => {
  it('lead to existing files', () => {
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('lead to existing headings', () => {
    const dead = links.filter(
      ({ file, anchor }) => anchor !== undefined && !anchorsOf(file).includes(anchor),
    );
    expect(dead).toEqual([]);
  });

  it('reach every page from the README', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const link of links) if (link.page === page && link.file.endsWith('.md')) reached.add(link.file);
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });

  it('of the dashboard lead to existing pages', () => {
    const linked = [...read('web/src/shell/docs-links.ts').matchAll(/'\/(docs\/[\w/-]+)'/g)];
    expect(linked.length).toBeGreaterThan(5);
    expect(linked.filter(([, page]) => !pages.includes(`${page}.md`))).toEqual([]);
  });

  it('of the sources lead to existing pages', () => {
    const named = sources.flatMap((file) =>
      [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([page]) => ({ file, page })),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter(({ page }) => page !== CONFIGURATION && !pages.includes(page))).toEqual([]);
  });
});

describe('the size of the documentation', () => {
  it.each([
    ['README.md', 700],
    ['ARCHITECTURE.md', 3_500],
  ])('%s has at most %d words', (page, max) => {
    expect(wordsIn(read(page))).toBeLessThanOrEqual(max);
  });

  it('is at most 34,000 words', () => {
    const counted = pages.filter((page) => /^docs\/|^README/.test(page) && existsSync(join(root, page)));
    expect(wordsIn(counted.map(read).join('\n'))).toBeLessThanOrEqual(34_000);
  });

  it('keeps paragraphs within about five lines', () => {
    const long = pages
      .filter((page) => page !== CONFIGURATION)
      .flatMap((page) =>
        withoutCode(read(page))
          .split(/\n\n+|\n(?=- |\d+\. )/)
          .filter((paragraph) => !paragraph.startsWith('|') && paragraph.length > 640)
          .map((paragraph) => `${page}: ${paragraph.slice(0, 60)}`),
      )
      .filter((paragraph) => !paragraph.includes('<!-- begin'));
    expect(long).toEqual([]);
  });

  it('gives each entry of the changelog one line', () => {
    const lines = read('CHANGELOG.md').split('\n');
    expect(lines.filter((line) => line !== '' && !/^(#|- )/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('- ')).length).toBeLessThanOrEqual(120);
  });
});
