import type { CodeShred, Shred } from '../../solana/shred/parse-shred.ts';
import { merkleLeaf, ProvenNodes, proofEntriesOf } from '../../solana/shred/proven-nodes.ts';
import { reedSolomon } from '../../solana/shred/reed-solomon.ts';
import {
  DATA_HEADERS_BYTES,
  INDEX_OFFSET,
  MERKLE_ROOT_BYTES,
  POSITION_OFFSET,
  type ShredLayout,
  SIGNATURE_BYTES,
  siblingLayout,
} from '../../solana/shred/shred-layout.ts';

const equal = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** An erasure batch. Merkle shreds are proven against its root; legacy shreds are verified one by one. */
export class FecSet {
  readonly fecSetIndex: number;
  /** Shared by all shreds of a merkle set. */
  readonly signature: Uint8Array;
  /** Null for legacy sets. */
  proven: ProvenNodes | null;
  /** Root of the previous set; null for unchained shreds. */
  readonly chainedRoot: Uint8Array | null;
  readonly #dataLayout: ShredLayout;
  readonly #codeLayout: ShredLayout;
  readonly #data: (Uint8Array | undefined)[] = [];
  readonly #code: (Uint8Array | undefined)[] = [];
  #dataCount = 0;
  #codeCount = 0;
  #numData = 0;
  #numCode = 0;
  #isRecoveryTried = false;
  /** Number of data shreds whose batch is incomplete. */
  #waitingCount = 0;
  /** Memory in use, including this set's shreds that wait in incomplete batches. */
  bytes = 0;

  /** @param root - verified merkle root; null for legacy shreds. */
  constructor(first: Shred, root: Uint8Array | null) {
    const { layout, bytes } = first;
    this.fecSetIndex = first.fecSetIndex;
    this.signature = bytes.slice(0, SIGNATURE_BYTES);
    this.proven = root === null ? null : new ProvenNodes(layout.proofEntries, root);
    this.chainedRoot = layout.isChained
      ? bytes.slice(layout.bodyEnd, layout.bodyEnd + MERKLE_ROOT_BYTES)
      : null;
    const sibling = siblingLayout(layout);
    this.#dataLayout = layout.kind === 'data' ? layout : sibling;
    this.#codeLayout = layout.kind === 'code' ? layout : sibling;
  }

  get isComplete(): boolean {
    return this.#numData > 0 && this.#dataCount === this.#numData;
  }

  has({ kind, leafIndex }: Shred): boolean {
    if (this.isComplete) return true;
    return kind === 'data'
      ? this.#data[leafIndex] !== undefined
      : this.#numData > 0 && this.#code[leafIndex - this.#numData] !== undefined;
  }

  /** Whether a merkle shred has the set's verified signature. */
  isSigned(shred: Shred): boolean {
    return equal(this.signature, shred.bytes.subarray(0, SIGNATURE_BYTES));
  }

  proves({ layout, leafIndex, bytes }: Shred): boolean {
    const expected = layout.kind === 'data' ? this.#dataLayout : this.#codeLayout;
    if (layout !== expected || this.proven === null) return false;
    return this.proven.prove(leafIndex, merkleLeaf(bytes, layout.proofStart), bytes, layout.proofStart);
  }

  /** Whether a signed shred is inconsistent with the other shreds of the set. */
  contradicts(shred: Shred): boolean {
    if (shred.layout.isLegacy !== this.#dataLayout.isLegacy) return true;
    if (shred.kind === 'data') return this.#numData > 0 && shred.leafIndex >= this.#numData;
    const { numData, numCode } = shred;
    if (this.#numData > 0) return numData !== this.#numData || numCode !== this.#numCode;
    if (this.#data.length > numData) return true;
    return this.proven !== null && shred.layout.proofEntries !== proofEntriesOf(numData + numCode);
  }

  /** @param bytes - the shred's bytes, which are retained. The shred must be verified, new and consistent. */
  add(shred: Shred, bytes: Uint8Array): void {
    this.bytes += bytes.length;
    if (shred.kind === 'data') {
      this.#data[shred.leafIndex] = bytes;
      this.#dataCount++;
      this.#waitingCount++;
    } else this.#addCode(shred, bytes);
    if (this.isComplete) this.#freeBuffers();
  }

  #addCode({ numData, numCode, position }: CodeShred, bytes: Uint8Array): void {
    this.#numData = numData;
    this.#numCode = numCode;
    this.#code[position] = bytes;
    this.#codeCount++;
  }

  releaseData(): void {
    this.#waitingCount--;
    if (this.isComplete) this.#freeBuffers();
  }

  /** Frees code shreds. Data shreds stay until they are emitted. */
  #freeBuffers(): void {
    this.#code.length = 0;
    this.#codeCount = 0;
    this.bytes = this.#waitingCount * this.#dataLayout.bytes;
    if (this.#waitingCount === 0) this.#data.length = 0;
  }

  get dataPayloadMax(): number {
    return this.#dataLayout.bodyEnd - DATA_HEADERS_BYTES;
  }

  /** Index of the next set; -1 while unknown. */
  get nextSetIndex(): number {
    return this.#numData === 0 ? -1 : this.fecSetIndex + this.#numData;
  }

  get isRecoverable(): boolean {
    if (this.#isRecoveryTried || this.#codeCount === 0 || this.isComplete) return false;
    return this.#dataCount + this.#codeCount >= this.#numData;
  }

  /**
   * Computes missing data shreds. Proves those of a merkle set; the caller must verify those of a legacy set like
   * received shreds. Null if the shreds do not match the root: the leader signed a different tree.
   */
  recover(): Uint8Array[] | null {
    const { shardStart, bodyEnd, isLegacy, bytes } = this.#dataLayout;
    const shards = this.#shardsOf(this.#data, this.#numData, this.#dataLayout);
    shards.push(...this.#shardsOf(this.#code, this.#numCode, this.#codeLayout));
    const data = reedSolomon(this.#numData, this.#numCode).recoverData(shards) ?? [];
    const shreds = new Map<number, Uint8Array>();
    data.forEach((shard, i) => {
      if (this.#data[i] !== undefined) return;
      const shred = new Uint8Array(bytes);
      shred.set(shard, shardStart);
      if (!isLegacy) shred.set(this.signature);
      if (this.chainedRoot !== null) shred.set(this.chainedRoot, bodyEnd);
      shreds.set(i, shred);
    });
    const isProven = this.proven === null || this.#provesRecovered(this.proven, shreds);
    // Another attempt would use the same invalid code shreds.
    this.#isRecoveryTried = true;
    if (isProven) return [...shreds.values()];
    // Discards the code shreds and proofs; received data may still be valid.
    this.#code.length = 0;
    this.#codeCount = 0;
    this.bytes = this.#dataCount * this.#dataLayout.bytes;
    if (this.proven !== null) this.proven = new ProvenNodes(this.#dataLayout.proofEntries, this.proven.root);
    return null;
  }

  #shardsOf(shreds: readonly (Uint8Array | undefined)[], length: number, layout: ShredLayout) {
    return Array.from({ length }, (_, i) => shreds[i]?.subarray(layout.shardStart, layout.shardEnd) ?? null);
  }

  #provesRecovered(proven: ProvenNodes, missing: ReadonlyMap<number, Uint8Array>): boolean {
    const leaves = this.#numData + this.#numCode;
    const leafOf = (index: number): Uint8Array =>
      index < this.#numData
        ? merkleLeaf((missing.get(index) ?? this.#data[index]) as Uint8Array, this.#dataLayout.proofStart)
        : merkleLeaf(this.#makeCode(index - this.#numData, missing), this.#codeLayout.proofStart);
    return [...missing.keys()].every((index) => proven.proveWithoutProof(index, leaves, leafOf));
  }

  /** Computes a missing code shred, to hash a tree node that covers both code and data shreds. */
  #makeCode(position: number, missing: ReadonlyMap<number, Uint8Array>): Uint8Array {
    const layout = this.#codeLayout;
    const from = this.#code.findIndex((shred) => shred !== undefined);
    const shred = Uint8Array.from(this.#code[from] as Uint8Array);
    const view = new DataView(shred.buffer);
    view.setUint32(INDEX_OFFSET, view.getUint32(INDEX_OFFSET, true) - from + position, true);
    view.setUint16(POSITION_OFFSET, position, true);
    const { shardStart, shardEnd } = this.#dataLayout;
    const data = Array.from({ length: this.#numData }, (_, i) =>
      ((this.#data[i] ?? missing.get(i)) as Uint8Array).subarray(shardStart, shardEnd),
    );
    const into = shred.subarray(layout.shardStart, layout.shardEnd);
    reedSolomon(this.#numData, this.#numCode).encode(data, [position], [into]);
    return shred;
  }
}
