import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export type Backend = {
  readonly name: string;
  readonly httpPort: number;
  readonly grpcPort: number;
  ready: boolean;
};

/** Interval and timeout of readiness checks. */
const LOOK_MS = 100;
const LOOK_TIMEOUT_MS = 1_000;

/** A round-robin TCP balancer that checks `GET /ready`; open connections stay. */
export class Balancer {
  readonly #backends: Backend[] = [];
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #next = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @returns the listening ports. */
  async listen(): Promise<Readonly<{ httpPort: number; grpcPort: number }>> {
    const httpPort = await this.#open((backend) => backend.httpPort);
    const grpcPort = await this.#open((backend) => backend.grpcPort);
    this.#timer = setInterval(() => void this.checkAll(), LOOK_MS);
    return { httpPort, grpcPort };
  }

  get ready(): readonly string[] {
    return this.#backends.filter(({ ready }) => ready).map(({ name }) => name);
  }

  async add(name: string, httpPort: number, grpcPort: number): Promise<void> {
    this.#backends.push({ name, httpPort, grpcPort, ready: false });
    await this.checkAll();
  }

  remove(name: string): void {
    const at = this.#backends.findIndex((backend) => backend.name === name);
    if (at >= 0) this.#backends.splice(at, 1);
  }

  async checkAll(): Promise<void> {
    await Promise.all(
      this.#backends.map(async (backend) => {
        backend.ready = await isReady(backend.httpPort);
      }),
    );
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(
      this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
  }

  async #open(portOf: (backend: Backend) => number): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#forward(socket, portOf));
    this.#servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  #forward(client: Socket, portOf: (backend: Backend) => number): void {
    const ready = this.#backends.filter((backend) => backend.ready);
    const backend = ready[this.#next++ % Math.max(1, ready.length)];
    if (backend === undefined) {
      client.destroy();
      return;
    }
    const gateway = connect({ port: portOf(backend), host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroySoon();
      });
    }
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/ready`, {
      signal: AbortSignal.timeout(LOOK_TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
