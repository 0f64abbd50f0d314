import { fstatSync, fsyncSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createPepper } from '../../../src/control/pepper.ts';
import { temporaryFolder } from '../../service/program.ts';

vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>();
  return { ...real, fsyncSync: vi.fn(real.fsyncSync) };
});

const folder = temporaryFolder('pepper');

it('a new pepper is synced to disk with its directory entry before a key uses it', () => {
  const kinds: string[] = [];
  vi.mocked(fsyncSync).mockImplementation((descriptor) => {
    kinds.push(fstatSync(descriptor).isDirectory() ? 'folder' : 'file');
  });
  createPepper(join(folder, 'data'));
  expect(kinds).toEqual(['file', 'folder']);
});
