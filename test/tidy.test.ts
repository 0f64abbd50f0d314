import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readImportGraph, unreachable } from './project/import-graph.ts';
import { longFunctions } from './project/long-functions.ts';

/**
 * Style rules that no linter checks, applied to all files that git knows. Only test vectors and lock files are
 * exempt.
 */
const root = join(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(root, file)));

const texts = tracked
  .filter((file) => /\.(ts|js|md|json|toml|sh)$|^\.ci\/run$/.test(file))
  .filter((file) => !/package-lock\.json$|^bench\/results\//.test(file))
  .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n') }));

const sources = texts.filter(({ file }) => file.endsWith('.ts'));
const product = sources.filter(
  ({ file }) => /^(packages\/[^/]+\/)?src\//.test(file) && !/\.(test|bench)\.ts$/.test(file),
);

const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
const COLUMN_MAX = 130;

/** Table rows and test vectors may be wider. */
const WIDE_ALLOWED = /https?:\/\/|^\s*\/\/ biome-ignore|^\s*(\[|\{|'|"|`|\|)|row\(/;

/** Names that do not describe the contents. */
const EMPTY_NAMES = /(^|\/)(utils?|helpers?|managers?|common|misc|index)(\.|\/)/;

/** Leftover markers and forbidden words, split so that this file does not match itself. */
const LEFTOVERS = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b`);
const FORBIDDEN = new RegExp(
  ['registry\\.npm' + 'js', '/wo' + 'rk/', '/ro' + 'ot/', 'cla' + 'ude', 'farm' + '-', 'as an' + ' AI'].join(
    '|',
  ),
  'i',
);
const MUTED = /\b(it|test|describe)\.(skip|only|todo)\(/;

type Finding = string;

function findLines(files: typeof texts, fault: (line: string) => boolean, words: string): Finding[] {
  return files.flatMap(({ file, lines }) =>
    lines.flatMap((line, index) => (fault(line) ? [`${file}:${index + 1} ${words}`] : [])),
  );
}

describe('the project is tidy', () => {
  it('finds files to check', () => {
    expect(product.length).toBeGreaterThan(20);
    expect(tracked).toContain('README.md');
  });

  it('keeps lines readable', () => {
    expect(
      findLines(
        sources,
        (line) => line.length > COLUMN_MAX && !WIDE_ALLOWED.test(line),
        `wider than ${COLUMN_MAX}`,
      ),
    ).toEqual([]);
  });

  it('limits the size of files', () => {
    expect(
      product
        .filter(({ lines }) => lines.length > FILE_LINES_MAX)
        .map(({ file, lines }) => `${file}: ${lines.length} lines`),
    ).toEqual([]);
  });

  it('limits the size of functions', () => {
    const long = product.flatMap(({ file, lines }) =>
      longFunctions(lines, FUNCTION_LINES_MAX).map(({ line, length }) => `${file}:${line} ${length} lines`),
    );
    expect(long).toEqual([]);
  });

  it('has no vague file names', () => {
    expect(tracked.filter((file) => EMPTY_NAMES.test(file))).toEqual([]);
  });

  it('contains no leftovers', () => {
    expect(findLines(texts, (line) => LEFTOVERS.test(line), 'leftover marker')).toEqual([]);
  });

  it('mentions no machine, registry host or development session', () => {
    expect(findLines(texts, (line) => FORBIDDEN.test(line), 'forbidden words')).toEqual([]);
  });

  it('skips tests only on a condition', () => {
    expect(findLines(sources, (line) => MUTED.test(line), 'a muted test')).toEqual([]);
  });

  it('has no unused source file', () => {
    expect(
      unreachable(readImportGraph(root), ['src/cli/main.ts', 'src/control/database/sqlite-thread.ts']),
    ).toEqual([]);
  });

  it('has one title per Markdown file', () => {
    const titles = texts
      .filter(({ file }) => file.endsWith('.md'))
      .map(({ file, lines }) => ({
        file,
        titles: withoutCode(lines).filter((line) => /^# /.test(line)).length,
      }));
    expect(titles.filter(({ titles: count }) => count !== 1)).toEqual([]);
  });
});

function withoutCode(lines: string[]): string[] {
  let inside = false;
  return lines.filter((line) => {
    if (line.startsWith('```')) inside = !inside;
    return !inside && !line.startsWith('```');
  });
}

describe('the checks of tidiness', () => {
  const body = Array.from({ length: 80 }, () => '  work();');

  it.each([
    ['a plain function', ['function long() {']],
    ['a wrapped signature', ['export async function long(', '  a: string,', '): Promise<void> {']],
    ['an object as result', ['function long(): { a: string } {']],
    ['a method', ['async #long(a: string): Promise<{ b: number }> {']],
    ['an arrow', ['const long = async (a: string): Promise<void> => {']],
  ])('sees that %s is long', (_, opening) => {
    expect(longFunctions([...opening, ...body, '}'], FUNCTION_LINES_MAX)).toHaveLength(1);
  });

  it('accept a short function', () => {
    expect(longFunctions(['function short() {', ...body.slice(0, 60), '}'], FUNCTION_LINES_MAX)).toEqual([]);
  });

  it('find an unused file, even if another has the same name', () => {
    const graph = new Map([
      ['main.ts', ['a/decode.ts']],
      ['a/decode.ts', []],
      ['b/decode.ts', []],
    ]);
    expect(unreachable(graph, ['main.ts'])).toEqual(['b/decode.ts']);
  });
});
