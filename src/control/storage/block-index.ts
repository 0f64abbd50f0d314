import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfMissing } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { LEAF_BYTES } from './file-blocks.ts';
import { FILE_CID, type FileStore, firstBytesOf, type OpenFile } from './file-store.ts';
import type { SpooledFile } from './upload-spool.ts';

const CID_LENGTH = 59;

/** `<cid>.<index>.<root>`: leaf number `index` of the file `root`; `<cid>.node.<root>`: a node of that file. */
const NAME = /^(baf[a-z2-7]{56})\.(\d{1,9}|node)\.(baf[a-z2-7]{56})$/;

/** Maximum size of a node. This is ample: a node with 1,024 links takes about 50 KiB. */
const NODE_MAX_BYTES = 1024 * 1024;

type BlockFileName = Readonly<{ position: string; root: string }>;

type BlockFile = readonly [name: string, content: string | Uint8Array];

/** A file with one leaf has no nodes and needs no index. */
function blockFilesOf({ cid, blocks: { leaves, nodes } }: SpooledFile): BlockFile[] {
  if (nodes.length === 0) return [];
  return [
    ...leaves.map((leaf, index): BlockFile => [`${leaf}.${index}.${cid}`, '']),
    ...nodes.map((node): BlockFile => [`${node.cid}.node.${cid}`, node.bytes]),
  ];
}

/** Index of the blocks of stored files, for fetching individual blocks. Not fsynced. */
export class BlockIndex {
  readonly #folder: string;
  readonly #fileStore: FileStore;

  private constructor(folder: string, fileStore: FileStore) {
    this.#folder = folder;
    this.#fileStore = fileStore;
  }

  /** Opens the index. Removes entries of files that are not stored, unless another process may be adding files. */
  static async open(folder: string, fileStore: FileStore, isAlone: boolean): Promise<BlockIndex> {
    makeFolder(folder, 0o700);
    if (!isAlone) return new BlockIndex(folder, fileStore);
    for (const shard of await readdir(folder)) {
      for (const name of await readdir(join(folder, shard))) {
        const root = NAME.exec(name)?.[3];
        const isStored = root !== undefined && (await fileStore.has(root));
        if (!isStored) await rm(join(folder, shard, name), { force: true });
      }
    }
    return new BlockIndex(folder, fileStore);
  }

  async add(file: SpooledFile): Promise<void> {
    for (const [name, content] of blockFilesOf(file)) {
      makeFolder(this.#shardOf(name), 0o700);
      await writeFile(this.#path(name), content, { mode: 0o600 });
    }
  }

  async remove(file: SpooledFile): Promise<void> {
    for (const [name] of blockFilesOf(file)) await rm(this.#path(name), { force: true });
  }

  async open(cid: string): Promise<OpenFile | null> {
    if (!FILE_CID.test(cid)) return null;
    if (cid.startsWith('bafkre')) {
      const whole = await this.#fileStore.open(cid);
      if (whole !== null) return whole;
    }
    const found = await this.#find(cid);
    if (found === null) return null;
    if (found.position === 'node') return this.#node(cid, found);
    const file = await this.#fileStore.open(found.root);
    return file === null ? null : leafOf(file, Number(found.position));
  }

  /** Folder for a name, chosen by the last two characters of the CID at the start of the name. */
  #shardOf(name: string): string {
    return join(this.#folder, name.slice(CID_LENGTH - 2, CID_LENGTH));
  }

  #path(name: string): string {
    return join(this.#shardOf(name), name);
  }

  async #find(cid: string): Promise<BlockFileName | null> {
    const names = (await nullIfMissing(readdir(this.#shardOf(cid)))) ?? [];
    for (const name of names) {
      const [, block, position = '', root = ''] = NAME.exec(name) ?? [];
      if (block === cid && (await this.#fileStore.has(root))) return { position, root };
    }
    return null;
  }

  async #node(cid: string, { position, root }: BlockFileName): Promise<OpenFile | null> {
    const bytes = await firstBytesOf(this.#path(`${cid}.${position}.${root}`), NODE_MAX_BYTES);
    return bytes === null ? null : inMemory(bytes);
  }
}

const nameless = { name: null, type: 'application/octet-stream' } as const;

function leafOf(file: OpenFile, index: number): OpenFile {
  const from = index * LEAF_BYTES;
  const bytes = Math.min(LEAF_BYTES, file.bytes - from);
  return {
    ...nameless,
    bytes,
    read: (start, end) => file.read(from + start, from + Math.min(end, bytes)),
    close: () => file.close(),
  };
}

const inMemory = (bytes: Buffer): OpenFile => ({
  ...nameless,
  bytes: bytes.length,
  async *read(start, end) {
    yield bytes.subarray(start, end);
  },
  close: async () => {},
});
