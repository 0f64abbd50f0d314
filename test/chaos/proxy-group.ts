import { TcpProxy } from './tcp-proxy.ts';

/** The proxies of one node, which fail together. */
export class ProxyGroup {
  readonly proxies: readonly TcpProxy[];

  private constructor(proxies: readonly TcpProxy[]) {
    this.proxies = proxies;
  }

  static async start(...targetPorts: readonly number[]): Promise<ProxyGroup> {
    return new ProxyGroup(await Promise.all(targetPorts.map((port) => TcpProxy.start(port))));
  }

  port(at: number): number {
    return this.proxies[at]!.port;
  }

  async kill(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.kill()));
  }

  async revive(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.revive()));
  }

  freeze(): void {
    for (const proxy of this.proxies) proxy.freeze();
  }

  thaw(): void {
    for (const proxy of this.proxies) proxy.thaw();
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}
