import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CID } from 'multiformats/cid';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/service/program.ts';
import { BlockIndex } from './block-index.ts';
import { LEAF_BYTES } from './file-blocks.ts';
import { FileStore, storageLimits } from './file-store.ts';
import { type SpooledFile, UploadSpool } from './upload-spool.ts';

let folder: string;
let incoming: UploadSpool;
let fileStore: FileStore;
let blocks: BlockIndex;

async function openAll(): Promise<void> {
  incoming = await UploadSpool.open(join(folder, 'incoming'), storageLimits.fileMaxBytes);
  fileStore = await FileStore.open(join(folder, 'files'), incoming, storageLimits);
  blocks = await BlockIndex.open(join(folder, 'blocks'), fileStore, incoming.isAlone);
}

beforeEach(async () => {
  folder = temporaryFolder('blocks');
  await openAll();
});

async function receive(...leaves: readonly number[]): Promise<SpooledFile> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const leaf of leaves) yield Buffer.alloc(LEAF_BYTES, leaf);
    yield Buffer.from('end');
  }
  return incoming.receive(bytes(), new AbortController().signal);
}

async function keep(file: SpooledFile): Promise<SpooledFile> {
  await fileStore.store(file, { name: null, type: 'text/plain' }, () => blocks.add(file));
  return file;
}

const cidsOf = ({ blocks: { leaves, nodes } }: SpooledFile): string[] =>
  [...leaves, ...nodes.map(({ cid }) => cid)].map(String);

/** Reads a block and verifies its hash; null if missing. */
async function isWhole(cid: string): Promise<boolean | null> {
  const block = await blocks.open(cid);
  if (block === null) return null;
  const hash = createHash('sha256');
  for await (const piece of block.read(0, 1_000)) hash.update(piece);
  for await (const piece of block.read(1_000, block.bytes)) hash.update(piece);
  await block.close();
  return hash.digest().equals(CID.parse(cid).multihash.digest);
}

const indexed = (): string[] =>
  readdirSync(join(folder, 'blocks'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

describe('the blocks of stored files', () => {
  it('are found by CID, also after a restart', async () => {
    const files = [
      await keep(await receive()),
      await keep(await receive(1)),
      await keep(await receive(1, 2, 1)),
    ];
    for (const open of [async () => {}, openAll]) {
      await open();
      for (const cid of files.flatMap(cidsOf)) expect(await isWhole(cid)).toBe(true);
    }
    expect(indexed().length).toBe(2 + 1 + 4 + 1);
  });

  it('are missing when their file is missing', async () => {
    const file = await receive(3, 4);
    await blocks.add(file);
    for (const cid of [...cidsOf(file), 'x', '../x', '']) expect(await blocks.open(cid)).toBeNull();
    await blocks.remove(file);
    expect(indexed()).toEqual([]);
  });

  it('remain when another file with the same block is removed', async () => {
    const file = await keep(await receive(5, 6));
    const other = await receive(5, 7);
    await blocks.add(other);
    await blocks.remove(other);
    for (const cid of cidsOf(file)) expect(await isWhole(cid)).toBe(true);
  });

  it('of files that are no longer stored are dropped at startup', async () => {
    const file = await keep(await receive(8));
    await blocks.add(await receive(9));
    const [one] = readdirSync(join(folder, 'blocks'));
    writeFileSync(join(folder, 'blocks', one ?? '', 'nonsense'), '');
    await openAll();
    expect(indexed().every((name) => name.endsWith(file.cid))).toBe(true);
    expect(indexed().length).toBe(3);
  });
});
