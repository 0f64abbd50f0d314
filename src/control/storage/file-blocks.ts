import { type ImporterOptions, importFile, type WritableStorage } from 'ipfs-unixfs-importer';
import { balanced } from 'ipfs-unixfs-importer/layout';
import type { CID } from 'multiformats/cid';

/** Leaf size in bytes. Source: rest-api.md §6, profile A; IPIP-499 `unixfs-v1-2025`. */
export const LEAF_BYTES = 1024 * 1024;

/** Maximum links per node. Same sources as LEAF_BYTES. */
const LINKS_MAX = 1_024;

/** Initial buffer size. The buffer grows on demand, because most files are small. */
const BUFFER_MIN_BYTES = 16 * 1024;

/** A block that links to other blocks. */
export type Node = Readonly<{ cid: CID; bytes: Uint8Array }>;

/** DAG of a file. Its leaves are the bytes of the file, split into pieces of LEAF_BYTES. */
export type FileBlocks = Readonly<{ root: CID; leaves: readonly CID[]; nodes: readonly Node[] }>;

const profile: ImporterOptions = {
  cidVersion: 1,
  rawLeaves: true,
  // The input is already split by `splitIntoLeaves`.
  chunker: (leaves) => leaves,
  layout: balanced({ maxChildrenPerNode: LINKS_MAX }),
  // Limits read-ahead, and thus memory, to one leaf.
  blockWriteConcurrency: 1,
  fileImportConcurrency: 1,
};

/** Source: multicodec table, `raw`. */
const RAW = 0x55;

/** Builds the DAG of a file from the output of `splitIntoLeaves`. Consumes each leaf before requesting the next. */
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

class LeafBuffer {
  #buffer: Buffer = Buffer.allocUnsafeSlow(BUFFER_MIN_BYTES);
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes === LEAF_BYTES;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Returns the number of bytes taken. */
  add(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, LEAF_BYTES - this.#bytes);
    this.#grow(this.#bytes + taken);
    this.#buffer.set(bytes.subarray(0, taken), this.#bytes);
    this.#bytes += taken;
    return taken;
  }

  #grow(required: number): void {
    if (required <= this.#buffer.length) return;
    const buffer = Buffer.allocUnsafeSlow(Math.min(LEAF_BYTES, Math.max(required, 2 * this.#buffer.length)));
    this.#buffer.copy(buffer, 0, 0, this.#bytes);
    this.#buffer = buffer;
  }

  /** Returns the content, which is valid until the next `add`. */
  take(): Buffer {
    const whole = this.#buffer.subarray(0, this.#bytes);
    this.#bytes = 0;
    return whole;
  }
}

/** Splits a stream into leaves, each valid until the next is requested. An empty file has one empty leaf. */
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
