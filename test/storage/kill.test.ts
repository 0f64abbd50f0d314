import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildBlocks, splitIntoLeaves } from '../../src/control/storage/file-blocks.ts';
import { type EmbeddedStorage, openEmbeddedStorage } from '../../src/control/storage/open-storage.ts';
import { temporaryFolder } from '../service/program.ts';
import { runUntilKilled } from '../service/run-until-killed.ts';

const KILLS = 2;
const maker = join(import.meta.dirname, 'file-maker.ts');
const folder = temporaryFolder('storage-kill');

const storeUntilKilled = async (seed: number, filesBefore: number): Promise<string[]> =>
  (await runUntilKilled(maker, [folder, `${seed}`], filesBefore)).filter((line) => line.length === 59);

async function expectWhole({ fileStore }: EmbeddedStorage, cid: string): Promise<number> {
  const file = await fileStore.open(cid);
  if (file === null) throw new Error(`${cid} is not there`);
  const { root } = await buildBlocks(splitIntoLeaves(file.read(0, file.bytes)));
  await file.close();
  expect([root.toString(), file.type]).toEqual([cid, 'text/plain']);
  return file.bytes;
}

describe('storage after a kill', () => {
  it('has all acknowledged files completely, and nothing else', async () => {
    const stored: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      stored.push(...(await storeUntilKilled(kill, 1 + kill * 3)));
      const storage = await openEmbeddedStorage({ folder, uriPrefix: () => '' });
      expect(readdirSync(join(folder, 'incoming'))).toHaveLength(1);
      expect(readdirSync(join(folder, 'incoming'), { recursive: true })).toHaveLength(1);
      const names = readdirSync(join(folder, 'files'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name);
      const cids = names.filter((name) => !name.endsWith('.json'));
      expect(stored.filter((cid) => !cids.includes(cid))).toEqual([]);
      expect(names.length).toBe(2 * cids.length);
      let bytes = 0;
      for (const cid of cids) bytes += await expectWhole(storage, cid);
      expect([storage.fileStore.quota.files, storage.fileStore.quota.bytes]).toEqual([cids.length, bytes]);
      await storage.close();
    }
  });
});

describe('storage shared with another process', () => {
  it('does not delete incoming files of a running process', async () => {
    const child = spawn(process.execPath, [maker, folder, 'shared'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout });
    await once(lines, 'line');
    const incoming = (): string[] => readdirSync(join(folder, 'incoming'));
    const existing = incoming();
    const storage = await openEmbeddedStorage({ folder, uriPrefix: () => '' });
    expect([existing.length, incoming()]).toEqual([1, expect.arrayContaining(existing)]);
    // Waits for several, so that some uploads start before and some during the opening.
    for (let stored = 0; stored < 5; stored++) await once(lines, 'line');
    await storage.close();
    expect(incoming()).toEqual(existing);
    child.kill('SIGKILL');
    await once(child, 'close');
    const alone = await openEmbeddedStorage({ folder, uriPrefix: () => '' });
    expect(incoming()).not.toEqual(expect.arrayContaining(existing));
    await alone.close();
    expect(incoming()).toEqual([]);
  });
});
