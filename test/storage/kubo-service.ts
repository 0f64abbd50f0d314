import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { importByteStream } from 'ipfs-unixfs-importer';
import { fixedSize } from 'ipfs-unixfs-importer/chunker';
import { balanced } from 'ipfs-unixfs-importer/layout';
import { CID } from 'multiformats/cid';
import { type ReceivedRequest, ScriptedService, sendJson } from './scripted-service.ts';

export type Block = { cid: CID; bytes: Buffer };

/** Behaviors seen in real Kubo nodes. */
export type KuboBehavior = {
  chunkBytes?: number;
  /** Required `Authorization` header. */
  authorization?: string;
  add?: (response: ServerResponse) => void;
  pinError?: string;
};

/** The Kubo RPC API: POST only, one file per form, responses in JSON lines. */
export class KuboService {
  readonly pinned = new Set<string>();
  readonly blocks: Block[] = [];
  carHeader: Buffer = Buffer.alloc(0);
  behavior: KuboBehavior = {};
  service!: ScriptedService;

  static async start(): Promise<KuboService> {
    const kubo = new KuboService();
    kubo.service = await ScriptedService.start((...requested) => kubo.#answer(...requested));
    return kubo;
  }

  async #answer(
    requested: ReceivedRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { authorization, add } = this.behavior;
    if (requested.method !== 'POST') return void response.writeHead(405).end();
    if (authorization !== undefined && requested.authorization !== authorization) {
      return void response.writeHead(403, { 'content-type': 'text/plain' }).end('Forbidden\n');
    }
    if (requested.path === '/api/v0/add' && add !== undefined) return add(response);
    const file = await fileOf(request);
    if (requested.path === '/api/v0/add') return this.#add(requested, file, response);
    if (requested.path === '/api/v0/dag/import') return this.#import(file, response);
    response.writeHead(404).end('404 page not found\n');
  }

  async #add({ query }: ReceivedRequest, file: Buffer, response: ServerResponse): Promise<void> {
    const chunkSize = this.behavior.chunkBytes ?? Number(query.get('chunker')?.replace('size-', ''));
    const nowhere = { put: (cid: unknown) => cid } as unknown as Parameters<typeof importByteStream>[1];
    const { cid } = await importByteStream([file], nowhere, {
      cidVersion: query.get('cid-version') === '1' ? 1 : 0,
      rawLeaves: query.get('raw-leaves') === 'true',
      chunker: fixedSize({ chunkSize }),
      layout: balanced({ maxChildrenPerNode: Number(query.get('max-file-links') ?? 174) }),
    });
    if (query.get('pin') === 'true') this.pinned.add(cid.toString());
    sendJson(response, 200, { Name: 'file', Hash: cid.toString(), Size: String(file.length) });
  }

  #import(car: Buffer, response: ServerResponse): void {
    const header = takeVarint(car, 0);
    this.carHeader = car.subarray(0, header.at + header.value);
    this.blocks.length = 0;
    for (let at = header.at + header.value; at < car.length; ) {
      const section = takeVarint(car, at);
      const [cid, bytes] = CID.decodeFirst(car.subarray(section.at, section.at + section.value));
      const hash = createHash('sha256').update(bytes).digest();
      if (!hash.equals(cid.multihash.digest)) {
        sendJson(response, 500, { Message: 'mismatch', Type: 'error' });
        return;
      }
      this.blocks.push({ cid, bytes: Buffer.from(bytes) });
      at = section.at + section.value;
    }
    // The root is the 36 bytes before `gversion\x01`.
    const root = CID.decode(this.carHeader.subarray(-45, -9));
    const { pinError = '' } = this.behavior;
    if (pinError === '') this.pinned.add(root.toString());
    sendJson(response, 200, { Root: { Cid: { '/': root.toString() }, PinErrorMsg: pinError } });
  }
}

function takeVarint(bytes: Buffer, start: number): { value: number; at: number } {
  let value = 0;
  let scale = 1;
  for (let at = start; ; at++, scale *= 128) {
    const byte = bytes[at] as number;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, at: at + 1 };
  }
}

function fileOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const parser = new Busboy({ headers: request.headers as { 'content-type': string } });
    parser.on('file', (_name, stream) => stream.on('data', (piece: Buffer) => pieces.push(piece)));
    parser.on('finish', () => resolve(Buffer.concat(pieces)));
    parser.on('error', reject);
    request.on('error', reject);
    request.pipe(parser);
  });
}
