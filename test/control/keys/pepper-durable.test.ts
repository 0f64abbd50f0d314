import { fstatSync, fsyncSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { createPepper } from '../../../src/control/pepper.ts';

vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>();
  return { ...real, fsyncSync: vi.fn(real.fsyncSync) };
});

const folder = mkdtempSync(join(tmpdir(), 'solway-pepper-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a new pepper and its file name are durable before a key is created under it', () => {
  const kinds: string[] = [];
  vi.mocked(fsyncSync).mockImplementation((descriptor) => {
    kinds.push(fstatSync(descriptor).isDirectory() ? 'folder' : 'file');
  });
  createPepper(join(folder, 'data'));
  expect(kinds).toEqual(['file', 'folder']);
});
