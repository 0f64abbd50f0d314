import { type ImporterOptions, importFile, type WritableStorage } from 'ipfs-unixfs-importer';
import { balanced } from 'ipfs-unixfs-importer/layout';
import type { CID } from 'multiformats/cid';

/** Bytes of a leaf. Source: rest-api.md §6, profile A; IPIP-499 `unixfs-v1-2025`. */
export const LEAF_BYTES = 1024 * 1024;

/** Links of a node; the same sources. */
const LINKS_MAX = 1_024;

/** The room for the first leaf, which grows as it fills: most files are small. */
const BUFFER_MIN_BYTES = 16 * 1024;

/** A block that links others. */
export type Node = Readonly<{ cid: CID; bytes: Uint8Array }>;

/** How a file stands as blocks. Leaves are its bytes, cut every LEAF_BYTES. */
export type FileBlocks = Readonly<{ root: CID; leaves: readonly CID[]; nodes: readonly Node[] }>;

const profile: ImporterOptions = {
  cidVersion: 1,
  rawLeaves: true,
  // The leaves come as such: `inLeaves` has cut them.
  chunker: (leaves) => leaves,
  layout: balanced({ maxChildrenPerNode: LINKS_MAX }),
  // One leaf at a time: more are read ahead of their hashing otherwise, and held.
  blockWriteConcurrency: 1,
  fileImportConcurrency: 1,
};

/** The code of blocks that are bytes of a file and nothing else. Source: multicodec table, `raw`. */
export const RAW = 0x55;

/**
 * Finds the blocks of a file, and so its content identifier.
 * @param leaves - as `inLeaves` gives them; each is done with when the next is asked for.
 * @throws what `leaves` throws.
 */
export async function buildBlocks(leaves: AsyncIterable<Uint8Array>): Promise<FileBlocks> {
  const found: CID[] = [];
  const nodes: Node[] = [];
  const put = (cid: CID, bytes: Uint8Array): CID => {
    if (cid.code === RAW) found.push(cid);
    else nodes.push({ cid, bytes });
    return cid;
  };
  const { cid } = await importFile({ content: leaves }, { put } as unknown as WritableStorage, profile);
  return { root: cid, leaves: found, nodes };
}

/** Room for one leaf, used again for the next. However small the pieces are that come, no more is held. */
class LeafBuffer {
  #buffer: Buffer = Buffer.allocUnsafeSlow(BUFFER_MIN_BYTES);
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes === LEAF_BYTES;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** @returns how much of it was taken. */
  add(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, LEAF_BYTES - this.#bytes);
    this.#grow(this.#bytes + taken);
    this.#buffer.set(bytes.subarray(0, taken), this.#bytes);
    this.#bytes += taken;
    return taken;
  }

  #grow(needed: number): void {
    if (needed <= this.#buffer.length) return;
    const buffer = Buffer.allocUnsafeSlow(Math.min(LEAF_BYTES, Math.max(needed, 2 * this.#buffer.length)));
    this.#buffer.copy(buffer, 0, 0, this.#bytes);
    this.#buffer = buffer;
  }

  /** What is in it, until something is added. */
  take(): Buffer {
    const whole = this.#buffer.subarray(0, this.#bytes);
    this.#bytes = 0;
    return whole;
  }
}

/**
 * Cuts a file into leaves as it comes; an empty one is one empty leaf.
 * @returns each leaf, which holds until the next is asked for.
 */
export async function* splitIntoLeaves(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  const leaf = new LeafBuffer();
  let count = 0;
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length; ) {
      at += leaf.add(piece.subarray(at));
      if (!leaf.isFull) continue;
      count++;
      yield leaf.take();
    }
  }
  if (count === 0 || !leaf.isEmpty) yield leaf.take();
}
