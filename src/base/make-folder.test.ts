import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/service/program.ts';
import { makeFolder } from './make-folder.ts';

let root: string;
beforeEach(() => {
  root = temporaryFolder('make-folder');
});

describe('makeFolder', () => {
  it('makes a folder and its parents with the given mode', () => {
    makeFolder(join(root, 'a/b/c'), 0o700);
    for (const made of ['a', 'a/b', 'a/b/c']) {
      expect(statSync(join(root, made)).mode & 0o777).toBe(0o700);
    }
  });

  it('leaves an existing folder unchanged', () => {
    makeFolder(join(root, 'a'), 0o750);
    makeFolder(join(root, 'a'), 0o700);
    expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o750);
  });

  it.each([
    ['a file', ''],
    ['a file above it', 'below'],
  ])('fails if %s is in the way', (_name, below) => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolder(join(root, 'file', below))).toThrow(expect.objectContaining({ code: 'EEXIST' }));
  });
});
