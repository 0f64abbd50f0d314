import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { CID } from 'multiformats/cid';
import { LEAF_BYTES } from './file-blocks.ts';
import type { FileBackend } from './file-store.ts';
import {
  type ServiceBody,
  type ServiceResponse,
  StorageService,
  type StorageServiceLimits,
  storageServiceLimits,
  storageUnavailable,
} from './storage-service.ts';
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
async function* partOf(path: string, start: number, bytes: number): AsyncGenerator<Uint8Array, void> {
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
function toCar(file: SpooledFile): ServiceBody {
  const { root, leaves, nodes } = file.blocks;
  let bytes = header(root).length + file.bytes;
  for (const [index, cid] of leaves.entries()) bytes += blockHead(cid, leafBytes(file, index)).length;
  for (const { cid, bytes: node } of nodes) bytes += blockHead(cid, node.length).length + node.length;
  return { type: 'application/vnd.ipld.car', bytes, chunks: chunks(file) };
}

/** Which node it is, and how it is asked. */
export type KuboBackendOptions = Readonly<{
  /** Its RPC: `http://127.0.0.1:5001`. */
  url: string;
  /** The header `Authorization`, where its `API.Authorizations` wants one. */
  authorization?: string | null;
  limits?: Partial<StorageServiceLimits>;
}>;

/** Source: Kubo RPC API, /api/v0/add; rest-api.md §6. A node that does not know an option passes over it. */
const ADD = `/api/v0/add?${new URLSearchParams({
  'cid-version': '1',
  'raw-leaves': 'true',
  chunker: 'size-1048576',
  'max-file-links': '1024',
  pin: 'true',
  progress: 'false',
})}`;

/** Source: Kubo RPC API, /api/v0/dag/import. */
const IMPORT = '/api/v0/dag/import?pin-roots=true';

/** Files in a Kubo node, pinned there. */
export class KuboBackend implements FileBackend {
  readonly #service: StorageService;

  constructor({ url, authorization, limits }: KuboBackendOptions) {
    const service = { ...storageServiceLimits, ...limits };
    this.#service = new StorageService(url, authorization ?? null, service);
  }

  /** Adds the file as such; a node that finds another CID for it is given the blocks of ours. */
  async store(file: SpooledFile): Promise<void> {
    const found = await this.#add(file);
    if (found !== file.cid) await this.#import(file);
  }

  /** Breaks off what is asked, and closes the connections. */
  close(): Promise<void> {
    return this.#service.close();
  }

  async #add(file: SpooledFile): Promise<string> {
    const pieces = partOf(file.path, 0, file.bytes);
    const body = toMultipart({ type: 'application/octet-stream', bytes: file.bytes, chunks: pieces });
    const hash = linesOf(await this.#service.request('POST', ADD, body)).at(-1)?.Hash;
    if (typeof hash !== 'string')
      throw storageUnavailable('a node of Kubo named no CID for what it was given');
    return hash;
  }

  async #import(file: SpooledFile): Promise<void> {
    const lines = linesOf(await this.#service.request('POST', IMPORT, toMultipart(toCar(file))));
    const root = lines.map(({ Root }) => Root).find((one) => one?.Cid?.['/'] === file.cid);
    if (!root || root.PinErrorMsg) throw storageUnavailable('a node of Kubo did not pin what it was given');
  }
}

type ResponseLine = {
  Hash?: unknown;
  Root?: { Cid?: { '/'?: unknown } | null; PinErrorMsg?: unknown } | null;
};

/** The objects of an answer, one a line. @throws Failure STORAGE_UNAVAILABLE when it is none or tells of an error. */
function linesOf({ status, text }: ServiceResponse): ResponseLine[] {
  if (status !== 200) throw storageUnavailable(`a node of Kubo answered ${status}`);
  try {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => Object(JSON.parse(line)));
  } catch {
    throw storageUnavailable('a node of Kubo answered with something else than JSON');
  }
}

/** A body as the one file of a form, as the node takes it. */
function toMultipart({ type, bytes, chunks }: ServiceBody): ServiceBody {
  const boundary = randomUUID();
  const disposition = 'content-disposition: form-data; name="file"; filename="file"';
  const head = Buffer.from(`--${boundary}\r\n${disposition}\r\ncontent-type: ${type}\r\n\r\n`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const whole = async function* (): AsyncGenerator<Uint8Array, void> {
    yield head;
    yield* chunks;
    yield tail;
  };
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: head.length + bytes + tail.length,
    chunks: whole(),
  };
}
