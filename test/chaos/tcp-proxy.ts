import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** One connection through the proxy: the client's socket and the one to the target. */
type Pair = Readonly<{ near: Socket; far: Socket }>;

/** A proxy on a loopback port that does to connections what networks do. */
export class TcpProxy {
  readonly #targetPort: number;
  readonly #pairs = new Set<Pair>();
  #server: Server;
  #port = 0;
  #frozen = false;
  #delayMs = 0;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = this.#newServer();
  }

  /** A proxy in front of a loopback port, on a free port of its own. */
  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    await proxy.#listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections that stand now. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Cuts every connection, at once and without a word of farewell. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  /** Dies: cuts every connection and refuses new ones, until `revive`. */
  async kill(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /** Listens again, on the same port. */
  async revive(): Promise<void> {
    this.#frozen = false;
    this.#server = this.#newServer();
    await this.#listen();
  }

  /** Passes nothing on and closes nothing, new connections included: half-open, as when a machine loses power. */
  freeze(): void {
    this.#frozen = true;
    for (const { near, far } of this.#pairs) {
      near.pause();
      far.pause();
    }
  }

  /** Goes on where it froze. */
  thaw(): void {
    this.#frozen = false;
    for (const { near, far } of this.#pairs) {
      near.resume();
      far.resume();
    }
  }

  /** Passes everything on so much later from now on. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.kill();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #newServer(): Server {
    return createServer((near) => this.#join({ near, far: connect(this.#targetPort, '127.0.0.1') }));
  }

  #join(pair: Pair): void {
    this.#pairs.add(pair);
    this.#pass(pair, pair.near, pair.far);
    this.#pass(pair, pair.far, pair.near);
    if (this.#frozen) {
      pair.near.pause();
      pair.far.pause();
    }
  }

  #pass(pair: Pair, from: Socket, to: Socket): void {
    from.setNoDelay(true);
    from.on('data', (bytes) => {
      if (this.#delayMs === 0) to.write(bytes);
      else setTimeout(() => to.write(bytes), this.#delayMs);
    });
    from.on('error', () => {});
    from.on('close', () => {
      this.#pairs.delete(pair);
      to.destroy();
    });
  }
}
