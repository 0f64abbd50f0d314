import { TcpProxy } from '../tcp-proxy.ts';
import { ChainNode } from './chain-node.ts';
import type { Direct } from './direct.ts';
import type { InjectedFault } from './fault-history.ts';
import type { SeededRandom } from './seeded-random.ts';
import { BehindView, StuckView } from './stale-views.ts';

/** The share of the pieces of answers at which a connection breaks. */
const BREAKING_SHARE = 0.3;

export type FaultyNodeOptions = Readonly<{
  name: string;
  ledger: Direct;
  /** Of the ledger's PubSub. */
  pubsubPort: number;
  /** Accounts whose balances move. */
  moving: readonly string[];
}>;

/** A node of the ledger's chain, with its PubSub, that can fall ill. */
export class FaultyNode {
  readonly name: string;
  readonly #options: FaultyNodeOptions;
  readonly #node: ChainNode;
  readonly #rpc: TcpProxy;
  readonly #pubsub: TcpProxy;
  #isDead = false;

  private constructor(options: FaultyNodeOptions, node: ChainNode, rpc: TcpProxy, pubsub: TcpProxy) {
    this.name = options.name;
    this.#options = options;
    this.#node = node;
    this.#rpc = rpc;
    this.#pubsub = pubsub;
  }

  static async start(options: FaultyNodeOptions): Promise<FaultyNode> {
    const node = await ChainNode.start(options.ledger);
    return new FaultyNode(
      options,
      node,
      await TcpProxy.start(node.port),
      await TcpProxy.start(options.pubsubPort),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#rpc.port}/`;
  }

  get pubsubUrl(): string {
    return `ws://127.0.0.1:${this.#pubsub.port}/`;
  }

  /** Has this until `recover`. */
  async fallIll(illness: InjectedFault, chance: SeededRandom): Promise<void> {
    const { ledger, moving } = this.#options;
    switch (illness) {
      case 'killed':
        this.#isDead = true;
        await Promise.all(this.#proxies.map((proxy) => proxy.kill()));
        return;
      case 'frozen':
        for (const proxy of this.#proxies) proxy.freeze();
        return;
      case 'slow': {
        const ms = chance.between(100, 1_200);
        for (const proxy of this.#proxies) proxy.delay(ms);
        return;
      }
      case 'narrow': {
        const bytesPerSecond = Math.round(chance.between(4_000, 100_000));
        for (const proxy of this.#proxies) proxy.narrow(bytesPerSecond);
        return;
      }
      case 'breaking-off':
        this.#rpc.breakOff(() => chance.happens(BREAKING_SHARE));
        return;
      case 'behind':
        this.#node.view = new BehindView(ledger);
        return;
      case 'stuck':
        this.#node.view = await StuckView.at(ledger, moving);
    }
  }

  /** Is well again. */
  async recover(): Promise<void> {
    this.#node.view = null;
    for (const proxy of this.#proxies) proxy.calm();
    if (!this.#isDead) return;
    this.#isDead = false;
    await Promise.all(this.#proxies.map((proxy) => proxy.revive()));
  }

  async stop(): Promise<void> {
    await this.recover();
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    this.#node.stop();
  }

  get #proxies(): readonly TcpProxy[] {
    return [this.#rpc, this.#pubsub];
  }
}
