import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/base/log.ts';
import type { StorageLimits } from '../../src/control/storage/file-store.ts';
import { type EmbeddedStorage, openEmbeddedStorage } from '../../src/control/storage/open-storage.ts';
import type { Failure } from '../../src/protocol/errors.ts';
import { rejectRequest } from '../../src/servers/http/encode.ts';
import { type HttpHandler, joinRoutes } from '../../src/servers/http/routes.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { type FileReader, type IpfsServerOptions, ipfsRoutes } from '../../src/servers/ipfs/server.ts';
import { errorBody } from '../../src/servers/rest/encode.ts';
import { readUpload } from '../../src/servers/rest/multipart.ts';

/** Non-repeating content. */
export function patterned(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 11)) & 0xff;
  return bytes;
}

const BOUNDARY = 'storage-boundary';
const HEAD = Buffer.from(
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"\r\n` +
    'content-type: application/octet-stream\r\n\r\n',
);
const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);

export type Answer = Readonly<{ status: number; body: Record<string, unknown> }>;

/** Embedded storage over HTTP: POST /upload stores, /ipfs/<cid> serves. */
export class StorageServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'storage-door-'));
  storage!: EmbeddedStorage;
  http!: HttpServer;
  port = 0;
  /** Files opened and closed by the gateway. */
  readonly opened = { open: 0, closed: 0 };
  readonly #sockets: Socket[] = [];

  static async start(
    limits: Partial<StorageLimits> = {},
    gateway: Partial<IpfsServerOptions> = {},
  ): Promise<StorageServer> {
    const server = new StorageServer();
    server.storage = await openEmbeddedStorage({ folder: server.folder, uriPrefix: () => '/ipfs/', limits });
    const upload = new Map([['/upload', new Map([['POST', server.#upload]])]]);
    const log = createLogger('silent', () => {});
    server.http = new HttpServer(joinRoutes(upload, ipfsRoutes(server.#reader(), gateway)), log);
    server.port = (await server.http.listen()).port;
    return server;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.http.drain(0);
    rmSync(this.folder, { recursive: true, force: true });
  }

  connect(): Socket {
    const socket = connect(this.port, '127.0.0.1');
    socket.on('error', () => {});
    this.#sockets.push(socket);
    return socket;
  }

  /** Uploads `piece` repeatedly up to `length` bytes. */
  upload(piece: Buffer, length = piece.length): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        port: this.port,
        path: '/upload',
        method: 'POST',
        headers: {
          'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
          'content-length': HEAD.length + length + TAIL.length,
        },
      });
      request.on('error', reject);
      request.on('response', (response) => resolve(readAnswer(response)));
      void writeRepeated(request, piece, length);
    });
  }

  readonly #upload: HttpHandler = async (request, response) => {
    const leaving = new AbortController();
    response.on('close', () => leaving.abort());
    try {
      const { name, type, bytes } = await readUpload(request, response);
      const sent = { name, type, ownerId: 'family' };
      const stored = await this.storage.uploads.put(bytes, sent, leaving.signal);
      response.end(JSON.stringify(stored));
    } catch (failure) {
      if (!response.destroyed) rejectRequest(request, response, failure as Failure, {}, errorBody);
    }
  };

  #reader(): FileReader {
    return {
      open: async (cid) => {
        const file = await this.storage.fileStore.open(cid);
        if (file === null) return null;
        this.opened.open++;
        const close = async (): Promise<void> => {
          this.opened.closed++;
          await file.close();
        };
        return { ...file, close };
      },
    };
  }
}

async function writeRepeated(request: NodeJS.WritableStream, piece: Buffer, length: number): Promise<void> {
  request.write(HEAD);
  for (let sent = 0; sent < length; sent += piece.length) {
    const isTaken = request.write(piece.subarray(0, length - sent));
    if (!isTaken) await new Promise<void>((resolve) => request.once('drain', resolve));
  }
  request.end(TAIL);
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode ?? 0, body: JSON.parse(text) };
}
