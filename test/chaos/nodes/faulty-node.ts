import { ProxyGroup } from '../proxy-group.ts';
import { ChainNode } from './chain-node.ts';
import type { Direct } from './direct.ts';
import type { InjectedFault } from './fault-history.ts';
import type { SeededRandom } from './seeded-random.ts';
import { BehindView, StuckView } from './stale-views.ts';

/** Share of response chunks within which a connection is reset. */
const BREAKING_SHARE = 0.3;

export type FaultyNodeOptions = Readonly<{
  name: string;
  ledger: Direct;
  /** Of the ledger's PubSub. */
  pubsubPort: number;
  /** Accounts with changing balances. */
  moving: readonly string[];
}>;

/** A node of the ledger's chain with PubSub, into which faults are injected. */
export class FaultyNode {
  readonly name: string;
  readonly #options: FaultyNodeOptions;
  readonly #node: ChainNode;
  /** JSON-RPC and PubSub. */
  readonly #proxies: ProxyGroup;
  #isDead = false;

  private constructor(options: FaultyNodeOptions, node: ChainNode, proxies: ProxyGroup) {
    this.name = options.name;
    this.#options = options;
    this.#node = node;
    this.#proxies = proxies;
  }

  static async start(options: FaultyNodeOptions): Promise<FaultyNode> {
    const node = await ChainNode.start(options.ledger);
    return new FaultyNode(options, node, await ProxyGroup.start(node.port, options.pubsubPort));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#proxies.port(0)}/`;
  }

  get pubsubUrl(): string {
    return `ws://127.0.0.1:${this.#proxies.port(1)}/`;
  }

  /** Injects a fault until `recover`. */
  async inject(fault: InjectedFault, random: SeededRandom): Promise<void> {
    const { ledger, moving } = this.#options;
    switch (fault) {
      case 'killed':
        this.#isDead = true;
        return this.#proxies.kill();
      case 'frozen':
        return this.#proxies.freeze();
      case 'slow': {
        const ms = random.between(100, 1_200);
        for (const proxy of this.#proxies.proxies) proxy.delay(ms);
        return;
      }
      case 'narrow': {
        const bytesPerSecond = Math.round(random.between(4_000, 100_000));
        for (const proxy of this.#proxies.proxies) proxy.narrow(bytesPerSecond);
        return;
      }
      case 'breaking-off':
        this.#proxies.proxies[0]!.breakOff(() => random.happens(BREAKING_SHARE));
        return;
      case 'behind':
        this.#node.view = new BehindView(ledger);
        return;
      case 'stuck':
        this.#node.view = await StuckView.at(ledger, moving);
    }
  }

  async recover(): Promise<void> {
    this.#node.view = null;
    for (const proxy of this.#proxies.proxies) proxy.calm();
    if (!this.#isDead) return;
    this.#isDead = false;
    await this.#proxies.revive();
  }

  async stop(): Promise<void> {
    await this.recover();
    await this.#proxies.close();
    this.#node.stop();
  }
}
