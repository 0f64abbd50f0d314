import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type LinkFault, NetworkLink } from './network-link.ts';

/** One connection through the proxy: the client's socket, the one to the target, and what passes between them. */
type Pair = { readonly near: Socket; readonly far: Socket; passages: readonly NetworkLink[] };

/** A proxy on a loopback port that does to connections what networks do. */
export class TcpProxy {
  readonly #targetPort: number;
  readonly #pairs = new Set<Pair>();
  readonly #weather: LinkFault = { frozen: false, delayMs: 0, bytesPerSecond: null, breaksAt: null };
  #server: Server;
  #port = 0;

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
    for (const pair of this.#pairs) reset(pair);
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
    this.#change({ frozen: false });
    this.#server = this.#newServer();
    await this.#listen();
  }

  /** Passes nothing on and closes nothing, new connections included: half-open, as when a machine loses power. */
  freeze(): void {
    this.#change({ frozen: true });
  }

  /** Goes on where it froze. */
  thaw(): void {
    this.#change({ frozen: false });
  }

  /** Passes everything on so much later from now on. With 0, what it held back leaves at once. */
  delay(ms: number): void {
    this.#change({ delayMs: ms });
  }

  /** Passes no more than this on from now on, over each connection in each direction. */
  narrow(bytesPerSecond: number): void {
    this.#change({ bytesPerSecond });
  }

  /** Breaks connections in the middle of an answer. @param breaksAt - asked at each piece of one. */
  breakOff(breaksAt: () => boolean): void {
    this.#change({ breaksAt });
  }

  /** Passes everything on as it comes, from now on. */
  calm(): void {
    this.#change({ frozen: false, delayMs: 0, bytesPerSecond: null, breaksAt: null });
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.kill();
  }

  #change(weather: Partial<LinkFault>): void {
    Object.assign(this.#weather, weather);
    for (const { passages } of this.#pairs) for (const passage of passages) passage.changed();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #newServer(): Server {
    return createServer((near) => this.#join(near, connect(this.#targetPort, '127.0.0.1')));
  }

  #join(near: Socket, far: Socket): void {
    const pair: Pair = { near, far, passages: [] };
    const requests = new NetworkLink(near, far, this.#weather, null);
    const answers = new NetworkLink(far, near, this.#weather, () => reset(pair));
    pair.passages = [requests, answers];
    this.#pairs.add(pair);
    near.on('close', (isBroken) => this.#closed(pair, requests, isBroken));
    far.on('close', (isBroken) => this.#closed(pair, answers, isBroken));
  }

  #closed(pair: Pair, passage: NetworkLink, isBroken: boolean): void {
    passage.end(isBroken);
    if (pair.near.destroyed && pair.far.destroyed) this.#pairs.delete(pair);
  }
}

function reset({ near, far }: Pair): void {
  near.resetAndDestroy();
  far.destroy();
}
