import { type MockNode, send, startMock } from '../../upstream/mock/server.ts';
import { ProxyGroup } from '../proxy-group.ts';
import type { Direct } from './direct.ts';
import type { InjectedFault } from './fault-history.ts';
import type { SeededRandom } from './fault-injector.ts';
import { BehindView, readCall, type StaleView, StuckView } from './stale-views.ts';

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
  readonly #node: MockNode;
  /** JSON-RPC and PubSub. */
  readonly #proxies: ProxyGroup;
  readonly #shown: { view: StaleView | null };
  #isDead = false;

  private constructor(
    options: FaultyNodeOptions,
    node: MockNode,
    proxies: ProxyGroup,
    shown: { view: StaleView | null },
  ) {
    this.name = options.name;
    this.#options = options;
    this.#node = node;
    this.#proxies = proxies;
    this.#shown = shown;
  }

  static async start(options: FaultyNodeOptions): Promise<FaultyNode> {
    const { ledger, pubsubPort } = options;
    /** Null for the ledger itself. */
    const shown: { view: StaleView | null } = { view: null };
    const respond = async (body: string): Promise<{ status: number; text: string }> => {
      const call = shown.view === null ? null : readCall(body);
      if (shown.view === null || call === null) return ledger.post(body);
      return { status: 200, text: await shown.view.answer(call) };
    };
    const node = await startMock(({ raw }, reply) => {
      // The ledger ends before its nodes.
      respond(raw).then(
        ({ status, text }) => send(reply, text, status),
        () => reply.destroy(),
      );
    });
    const proxies = await ProxyGroup.start(Number(new URL(node.url).port), pubsubPort);
    return new FaultyNode(options, node, proxies, shown);
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
        this.#shown.view = new BehindView(ledger);
        return;
      case 'stuck':
        this.#shown.view = await StuckView.at(ledger, moving);
    }
  }

  async recover(): Promise<void> {
    this.#shown.view = null;
    for (const proxy of this.#proxies.proxies) proxy.calm();
    if (!this.#isDead) return;
    this.#isDead = false;
    await this.#proxies.revive();
  }

  async stop(): Promise<void> {
    await this.recover();
    await this.#proxies.close();
    await this.#node.close();
  }
}
