import { type MockNode, send, startMock } from '../../upstream/mock/server.ts';
import { ProxyGroup } from '../proxy-group.ts';
import type { Direct } from './direct.ts';
import type { InjectedFault } from './fault-history.ts';
import type { SeededRandom } from './fault-injector.ts';
import { behindView, readCall, type StaleView, stuckView } from './stale-views.ts';

/** Share of response chunks in which the connection is reset. */
const BREAKING_SHARE = 0.3;

/** A node of the ledger's chain, with PubSub, into which faults can be injected. */
export class FaultyNode {
  readonly name: string;
  readonly #ledger: Direct;
  /** Accounts with changing balances. */
  readonly #moving: readonly string[];
  /** Proxies for JSON-RPC and PubSub. */
  #proxies!: ProxyGroup;
  #node!: MockNode;
  /** Null if calls are forwarded to the ledger. */
  #view: StaleView | null = null;
  #isDead = false;

  private constructor(name: string, ledger: Direct, moving: readonly string[]) {
    this.name = name;
    this.#ledger = ledger;
    this.#moving = moving;
  }

  static async start(
    name: string,
    ledger: Direct,
    pubsubPort: number,
    moving: readonly string[],
  ): Promise<FaultyNode> {
    const faulty = new FaultyNode(name, ledger, moving);
    faulty.#node = await startMock(({ raw }, reply) => {
      // The ledger stops before its nodes.
      faulty.#respond(raw).then(
        ({ status, text }) => send(reply, text, status),
        () => reply.destroy(),
      );
    });
    faulty.#proxies = await ProxyGroup.start(Number(new URL(faulty.#node.url).port), pubsubPort);
    return faulty;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#proxies.port(0)}/`;
  }

  get pubsubUrl(): string {
    return `ws://127.0.0.1:${this.#proxies.port(1)}/`;
  }

  async inject(fault: InjectedFault, random: SeededRandom): Promise<void> {
    const { proxies } = this.#proxies;
    const amount = { slow: random.between(100, 1_200), narrow: Math.round(random.between(4_000, 100_000)) };
    if (fault === 'killed') {
      this.#isDead = true;
      await this.#proxies.kill();
    } else if (fault === 'frozen') this.#proxies.freeze();
    else if (fault === 'slow') for (const proxy of proxies) proxy.delay(amount.slow);
    else if (fault === 'narrow') for (const proxy of proxies) proxy.narrow(amount.narrow);
    else if (fault === 'breaking-off') proxies[0]!.breakOff(() => random.happens(BREAKING_SHARE));
    else if (fault === 'behind') this.#view = behindView(this.#ledger);
    else this.#view = await stuckView(this.#ledger, this.#moving);
  }

  async recover(): Promise<void> {
    this.#view = null;
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

  async #respond(body: string): Promise<{ status: number; text: string }> {
    const call = this.#view === null ? null : readCall(body);
    if (this.#view === null || call === null) return this.#ledger.post(body);
    return { status: 200, text: await this.#view(call) };
  }
}
