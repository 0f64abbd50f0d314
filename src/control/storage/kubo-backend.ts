import { randomUUID } from 'node:crypto';
import { partOf, toCar } from './car.ts';
import type { FileBackend } from './file-backend.ts';
import {
  type ServiceBody,
  type ServiceResponse,
  StorageService,
  type StorageServiceLimits,
  storageServiceLimits,
  storageUnavailable,
} from './storage-service.ts';
import type { SpooledFile } from './upload-spool.ts';

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
