import { createReadStream } from 'node:fs';
import type { CID } from 'multiformats/cid';
import { LEAF_BYTES } from './file-blocks.ts';
import type { ServiceBody } from './storage-service.ts';
import type { SpooledFile } from './upload-spool.ts';

/** A number in seven bits per byte, least first. Source: CARv1, "Format Description"; unsigned-varint. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let remaining = value;
  for (; remaining >= 0x80; remaining = Math.floor(remaining / 0x80)) bytes.push((remaining % 0x80) | 0x80);
  bytes.push(remaining);
  return Uint8Array.from(bytes);
}

/** `{"roots": [root], "version": 1}` in DAG-CBOR, behind its length. Source: CARv1, "Header"; RFC 8949. */
function header(root: CID): Uint8Array {
  const cbor = Buffer.concat([
    Buffer.from([0xa2, 0x65]),
    Buffer.from('roots'),
    // A list of one; tag 42, of bytes: a zero, then the CID.
    Buffer.from([0x81, 0xd8, 0x2a, 0x58, root.bytes.length + 1, 0x00]),
    root.bytes,
    Buffer.from([0x67]),
    Buffer.from('version'),
    Buffer.from([0x01]),
  ]);
  return Buffer.concat([varint(cbor.length), cbor]);
}

/** What stands before the bytes of a block. */
const blockHead = (cid: CID, bytes: number): Uint8Array =>
  Buffer.concat([varint(cid.bytes.length + bytes), cid.bytes]);

/** Bytes of the leaf at that place. */
const leafBytes = (file: SpooledFile, index: number): number =>
  Math.min(LEAF_BYTES, file.bytes - index * LEAF_BYTES);

/** A part of a file on the disk. It is opened when its bytes are asked for. */
export async function* partOf(path: string, start: number, bytes: number): AsyncGenerator<Uint8Array, void> {
  if (bytes > 0) yield* createReadStream(path, { start, end: start + bytes - 1 });
}

async function* chunks(file: SpooledFile): AsyncGenerator<Uint8Array, void> {
  const { root, leaves, nodes } = file.blocks;
  yield header(root);
  for (const [index, cid] of leaves.entries()) {
    yield blockHead(cid, leafBytes(file, index));
    yield* partOf(file.path, index * LEAF_BYTES, leafBytes(file, index));
  }
  for (const { cid, bytes } of nodes) {
    yield blockHead(cid, bytes.length);
    yield bytes;
  }
}

/** A file as its blocks, in the format of content addressable archives, version 1. */
export function toCar(file: SpooledFile): ServiceBody {
  const { root, leaves, nodes } = file.blocks;
  let bytes = header(root).length + file.bytes;
  for (const [index, cid] of leaves.entries()) bytes += blockHead(cid, leafBytes(file, index)).length;
  for (const { cid, bytes: node } of nodes) bytes += blockHead(cid, node.length).length + node.length;
  return { type: 'application/vnd.ipld.car', bytes, chunks: chunks(file) };
}
