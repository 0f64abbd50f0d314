import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

export class FreezingProxy {
  readonly #url: URL;
  readonly #sockets = new Set<Socket>();
  readonly #server;
  #isFrozen = false;

  constructor(url: string) {
    this.#url = new URL(url);
    const socketPath = join(this.#url.searchParams.get('host')!, '.s.PGSQL.5432');
    this.#server = createServer((clientSocket) => {
      const serverSocket = connect(socketPath);
      for (const [from, to] of [
        [clientSocket, serverSocket],
        [serverSocket, clientSocket],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (bytes) => to.write(bytes));
        from.on('error', () => undefined);
        from.on('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
        if (this.#isFrozen) from.pause();
      }
    });
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return `postgres://solway@127.0.0.1:${port}${this.#url.pathname}`;
  }

  set frozen(isFrozen: boolean) {
    this.#isFrozen = isFrozen;
    for (const socket of this.#sockets) isFrozen ? socket.pause() : socket.resume();
  }

  /** Silently drops the traffic of existing connections, like a firewall; new connections work. */
  silence(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
