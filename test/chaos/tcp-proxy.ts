import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type LinkFault, NetworkLink } from './network-link.ts';

/** A proxied connection: the sockets to the client and to the target, and a link for each direction. */
type Pair = { readonly near: Socket; readonly far: Socket; links: readonly NetworkLink[] };

export class TcpProxy {
  readonly #targetPort: number;
  readonly #pairs = new Set<Pair>();
  readonly #fault: LinkFault = { frozen: false, delayMs: 0, bytesPerSecond: null, breaksAt: null };
  #server: Server;
  #port = 0;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = this.#newServer();
  }

  /** A proxy for a loopback port, on a free port. */
  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    await proxy.#listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  cut(): void {
    for (const pair of this.#pairs) reset(pair);
  }

  /** Resets every connection and refuses new ones until `revive`. */
  async kill(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  async revive(): Promise<void> {
    this.#change({ frozen: false });
    this.#server = this.#newServer();
    await this.#listen();
  }

  /** Forwards nothing and closes nothing, even on new connections: half-open, as after a power failure. */
  freeze(): void {
    this.#change({ frozen: true });
  }

  thaw(): void {
    this.#change({ frozen: false });
  }

  /** Delays all data. With 0, delayed data is sent at once. */
  delay(ms: number): void {
    this.#change({ delayMs: ms });
  }

  /** Limits the throughput of each connection in each direction. */
  narrow(bytesPerSecond: number): void {
    this.#change({ bytesPerSecond });
  }

  /** Resets connections within a response. @param breaksAt - called for each chunk. */
  breakOff(breaksAt: () => boolean): void {
    this.#change({ breaksAt });
  }

  calm(): void {
    this.#change({ frozen: false, delayMs: 0, bytesPerSecond: null, breaksAt: null });
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.kill();
  }

  #change(fault: Partial<LinkFault>): void {
    Object.assign(this.#fault, fault);
    for (const { links } of this.#pairs) for (const link of links) link.changed();
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
    const pair: Pair = { near, far, links: [] };
    const requests = new NetworkLink(near, far, this.#fault, null);
    const answers = new NetworkLink(far, near, this.#fault, () => reset(pair));
    pair.links = [requests, answers];
    this.#pairs.add(pair);
    near.on('close', (isBroken) => this.#closed(pair, requests, isBroken));
    far.on('close', (isBroken) => this.#closed(pair, answers, isBroken));
  }

  #closed(pair: Pair, link: NetworkLink, isBroken: boolean): void {
    link.end(isBroken);
    if (pair.near.destroyed && pair.far.destroyed) this.#pairs.delete(pair);
  }
}

function reset({ near, far }: Pair): void {
  near.resetAndDestroy();
  far.destroy();
}
