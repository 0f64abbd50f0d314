import { openAsBlob } from 'node:fs';
import { varint } from 'multiformats';
import type { CID } from 'multiformats/cid';
import { LEAF_BYTES } from './file-blocks.ts';
import type { FileBackend } from './file-store.ts';
import {
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
function header(root: CID): Buffer<ArrayBuffer> {
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

const blockHead = (cid: CID, bytes: number): Buffer<ArrayBuffer> =>
  Buffer.concat([toVarint(cid.bytes.length + bytes), cid.bytes]);

/** Builds a CAR file from a spooled file. @param content - the bytes of the file. */
function toCar({ blocks: { root, leaves, nodes } }: SpooledFile, content: Blob): Blob {
  const parts: (Buffer<ArrayBuffer> | Blob)[] = [header(root)];
  for (const [index, cid] of leaves.entries()) {
    const leaf = content.slice(index * LEAF_BYTES, (index + 1) * LEAF_BYTES);
    parts.push(blockHead(cid, leaf.size), leaf);
  }
  for (const { cid, bytes } of nodes) parts.push(blockHead(cid, bytes.length), Buffer.from(bytes));
  return new Blob(parts, { type: 'application/vnd.ipld.car' });
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
export function kuboBackend({ url, authorization, limits }: KuboBackendOptions) {
  const service = new StorageService(url, authorization ?? null, { ...storageServiceLimits, ...limits });
  return {
    /** Adds the file. If the node computes a different CID, imports our blocks instead. */
    async store(file: SpooledFile): Promise<void> {
      const content = await openAsBlob(file.path, { type: 'application/octet-stream' });
      if ((await add(service, content)) !== file.cid) await importBlocks(service, file, content);
    },
    close: () => service.close(),
  } satisfies FileBackend & { close(): Promise<void> };
}

async function add(service: StorageService, content: Blob): Promise<string> {
  const hash = linesOf(await service.request('POST', ADD, content)).at(-1)?.Hash;
  if (typeof hash !== 'string') throw storageUnavailable('the Kubo node returned no CID');
  return hash;
}

async function importBlocks(service: StorageService, file: SpooledFile, content: Blob): Promise<void> {
  const lines = linesOf(await service.request('POST', IMPORT, toCar(file, content)));
  const root = lines.map(({ Root }) => Root).find((one) => one?.Cid?.['/'] === file.cid);
  if (!root || root.PinErrorMsg) throw storageUnavailable('the Kubo node did not pin the file');
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
