import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createLogger } from '../../src/base/log.ts';
import { type EmbeddedStorage, openEmbeddedStorage } from '../../src/control/storage/open-storage.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { type FileReader, type IpfsServerOptions, ipfsRoutes } from '../../src/servers/ipfs/server.ts';
import { temporaryFolder } from '../service/program.ts';

export function patterned(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 11)) & 0xff;
  return bytes;
}

type Content = Readonly<{ name?: string | null; type?: string; times?: number }>;

export class StorageServer {
  readonly folder = temporaryFolder('storage');
  storage!: EmbeddedStorage;
  http!: HttpServer;
  port = 0;
  /** How many files the gateway has opened and closed. */
  readonly opened = { open: 0, closed: 0 };
  readonly #sockets: Socket[] = [];

  static async start(gateway: Partial<IpfsServerOptions> = {}): Promise<StorageServer> {
    const server = new StorageServer();
    server.storage = await openEmbeddedStorage({ folder: server.folder, uriPrefix: () => '/ipfs/' });
    const log = createLogger('silent', () => {});
    server.http = new HttpServer(ipfsRoutes(server.#reader(), gateway), log);
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

  async store(bytes: Uint8Array, { name = null, type = '', times = 1 }: Content = {}): Promise<string> {
    const content = (async function* () {
      for (let sent = 0; sent < times; sent++) yield bytes;
    })();
    const { signal } = new AbortController();
    return (await this.storage.uploads.put(content, { name, type, ownerId: 'family' }, signal)).cid;
  }

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
