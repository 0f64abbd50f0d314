import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { varint } from 'multiformats';
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

const toVarint = (value: number): Uint8Array =>
  varint.encodeTo(value, new Uint8Array(varint.encodingLength(value)));

/** Length-prefixed DAG-CBOR of `{"roots": [root], "version": 1}`. Source: CARv1, "Header"; RFC 8949. */
function header(root: CID): Uint8Array {
  const cbor = Buffer.concat([
    Buffer.from([0xa2, 0x65]),
    Buffer.from('roots'),
    // Array of one element: tag 42 with a byte string that holds a zero byte and the CID.
    Buffer.from([0x81, 0xd8, 0x2a, 0x58, root.bytes.length + 1, 0x00]),
    root.bytes,
    Buffer.from([0x67]),
    Buffer.from('version'),
    Buffer.from([0x01]),
  ]);
  return Buffer.concat([toVarint(cbor.length), cbor]);
}

const blockHead = (cid: CID, bytes: number): Uint8Array =>
  Buffer.concat([toVarint(cid.bytes.length + bytes), cid.bytes]);

const leafBytes = (file: SpooledFile, index: number): number =>
  Math.min(LEAF_BYTES, file.bytes - index * LEAF_BYTES);

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

function toCar(file: SpooledFile): ServiceBody {
  const { root, leaves, nodes } = file.blocks;
  let bytes = header(root).length + file.bytes;
  for (const [index, cid] of leaves.entries()) bytes += blockHead(cid, leafBytes(file, index)).length;
  for (const { cid, bytes: node } of nodes) bytes += blockHead(cid, node.length).length + node.length;
  return { type: 'application/vnd.ipld.car', bytes, chunks: chunks(file) };
}

export type KuboBackendOptions = Readonly<{
  /** URL of the RPC API. */
  url: string;
  /** `Authorization` header, if the node's `API.Authorizations` setting requires one. */
  authorization?: string | null;
  limits?: Partial<StorageServiceLimits>;
}>;

/** Sources: Kubo RPC API, /api/v0/add; rest-api.md §6. Nodes ignore unknown options. */
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

/** Stores and pins files on a Kubo node. */
export class KuboBackend implements FileBackend {
  readonly #service: StorageService;

  constructor({ url, authorization, limits }: KuboBackendOptions) {
    const service = { ...storageServiceLimits, ...limits };
    this.#service = new StorageService(url, authorization ?? null, service);
  }

  /** Adds the file. If the node computes a different CID, imports our blocks instead. */
  async store(file: SpooledFile): Promise<void> {
    const found = await this.#add(file);
    if (found !== file.cid) await this.#import(file);
  }

  close(): Promise<void> {
    return this.#service.close();
  }

  async #add(file: SpooledFile): Promise<string> {
    const pieces = partOf(file.path, 0, file.bytes);
    const body = toMultipart({ type: 'application/octet-stream', bytes: file.bytes, chunks: pieces });
    const hash = linesOf(await this.#service.request('POST', ADD, body)).at(-1)?.Hash;
    if (typeof hash !== 'string') throw storageUnavailable('the Kubo node returned no CID');
    return hash;
  }

  async #import(file: SpooledFile): Promise<void> {
    const lines = linesOf(await this.#service.request('POST', IMPORT, toMultipart(toCar(file))));
    const root = lines.map(({ Root }) => Root).find((one) => one?.Cid?.['/'] === file.cid);
    if (!root || root.PinErrorMsg) throw storageUnavailable('the Kubo node did not pin the file');
  }
}

type ResponseLine = {
  Hash?: unknown;
  Root?: { Cid?: { '/'?: unknown } | null; PinErrorMsg?: unknown } | null;
};

function linesOf({ status, text }: ServiceResponse): ResponseLine[] {
  if (status !== 200) throw storageUnavailable(`the Kubo node returned status ${status}`);
  try {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => Object(JSON.parse(line)));
  } catch {
    throw storageUnavailable('the Kubo node returned invalid JSON');
  }
}

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
