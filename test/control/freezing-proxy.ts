import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

/** Stands before a PostgreSQL server, and can leave everybody waiting who is connected or comes. */
export class FreezingProxy {
  readonly #url: URL;
  readonly #sockets = new Set<Socket>();
  readonly #server;
  #isFrozen = false;
  /** How long what the server says takes to get here, in milliseconds. */
  delayMs = 0;

  /** @param url - a database of a server that is reached through its socket. */
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
        from.on('data', (bytes) => {
          if (from === clientSocket || this.delayMs === 0) to.write(bytes);
          else setTimeout(() => to.write(bytes), this.delayMs);
        });
        from.on('error', () => undefined);
        from.on('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
        if (this.#isFrozen) from.pause();
      }
    });
  }

  /** @returns where the database is through here. */
  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return `postgres://solway@127.0.0.1:${port}${this.#url.pathname}`;
  }

  set frozen(isFrozen: boolean) {
    this.#isFrozen = isFrozen;
    for (const socket of this.#sockets) isFrozen ? socket.pause() : socket.resume();
  }

  /**
   * Passes nothing on any more over connections that stand, and closes none, as where the way between forgot them;
   * those that come are as ever. @returns how many there were.
   */
  silence(): number {
    const silenced = [...this.#sockets];
    for (const socket of silenced) socket.pause();
    return silenced.length / 2;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
