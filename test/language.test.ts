import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { retiredInFile, retiredInPath } from './project/retired-words.ts';

/** The wording rule of CONTRIBUTING.md (Rules), held in names, comments, messages and documents. */
const root = join(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => /\.(tsx?|js|md|toml|html|css|service)$/.test(file) && existsSync(join(root, file)))
  .filter((file) => !file.startsWith('bench/results/') && file !== 'test/project/retired-words.ts')
  .filter((file) => file !== 'test/language.test.ts');

/** Folders and files that are not rewritten yet. One that is clean must leave the list. */
const pending: readonly string[] = ['test/streams/'];

const isPending = (file: string): boolean => pending.some((prefix) => file.startsWith(prefix));
const findings = new Map(
  files.map((file) => [
    file,
    [...retiredInPath(file), ...retiredInFile(file, readFileSync(join(root, file), 'utf8'))],
  ]),
);

describe('the language of the project', () => {
  it('has no retired words', () => {
    const found = files
      .filter((file) => !isPending(file))
      .flatMap((file) => {
        const words = findings.get(file) ?? [];
        return words.length === 0 ? [] : [`${file}: ${[...new Set(words)].join(', ')}`];
      });
    expect(found).toEqual([]);
  });

  it('has no clean folder among those that are pending', () => {
    const clean = pending.filter((prefix) =>
      files.every((file) => !file.startsWith(prefix) || findings.get(file)?.length === 0),
    );
    expect(clean).toEqual([]);
  });

  it('is checked in identifiers, paths and text', () => {
    expect(retiredInFile('a.ts', 'const toldSlot = 1; // a slot that whoever wants\n')).toEqual([
      'told',
      'whoever',
    ]);
    expect(retiredInFile('a.ts', 'function walkNodes(): void {}')).toEqual(['walk']);
    expect(retiredInFile('a.md', 'Walk through the tutorial. Something went wrong.')).toEqual(['went wrong']);
    expect(retiredInPath('src/servers/front-door.ts')).toEqual(['door']);
    expect(retiredInFile('a.ts', 'Math.floor(keepAlive) // a floor of marble')).toEqual([]);
  });
});
