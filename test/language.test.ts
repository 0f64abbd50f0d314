import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { retiredInFile, retiredInPath } from './project/retired-words.ts';

/** Checks the wording rule of CONTRIBUTING.md (Rules) in names, comments, messages and documents. */
const root = join(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => /\.(tsx?|js|md|toml|html|css|service)$/.test(file) && existsSync(join(root, file)))
  .filter((file) => !file.startsWith('bench/results/') && file !== 'test/project/retired-words.ts')
  .filter((file) => file !== 'test/language.test.ts');

describe('the language of the project', () => {
  it('has no retired words', () => {
    const found = files.flatMap((file) => {
      const words = [...retiredInPath(file), ...retiredInFile(file, readFileSync(join(root, file), 'utf8'))];
      return words.length === 0 ? [] : [`${file}: ${[...new Set(words)].join(', ')}`];
    });
    expect(found).toEqual([]);
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
