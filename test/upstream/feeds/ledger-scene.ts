import { Keypair, SystemProgram } from '@solana/web3.js';
import type { LocalNodeOptions } from '../../../packages/localnet/src/genesis/open.ts';
import { startLocalnetServer } from '../../../packages/localnet/src/http/server.ts';
import { startPubsubServer } from '../../../packages/localnet/src/pubsub/server.ts';
import { Lab } from '../../../packages/localnet/test/ledger/lab.ts';
import { createLogger } from '../../../src/base/log.ts';
import type { Block } from '../../../src/solana/block.ts';
import type { Signature } from '../../../src/solana/signature.ts';
import type { Transaction } from '../../../src/solana/transaction/transaction.ts';
import { slot as slotOf } from '../../../src/solana/units.ts';
import { createFeed, type NetworkFeed } from '../../../src/upstream/feeds/feeds.ts';
import type { FeedLimits } from '../../../src/upstream/feeds/limits.ts';
import type { NodeConfig } from '../../../src/upstream/node.ts';
import { createUpstreamPool, type UpstreamPool } from '../../../src/upstream/pool.ts';
import { TcpProxy } from '../../chaos/tcp-proxy.ts';
import { testLimits } from './stage.ts';

/** A node as the feed sees it: proxies before the ledger's JSON-RPC and before its PubSub. */
export class Upstream {
  readonly rpc: TcpProxy;
  readonly pubsub: TcpProxy;

  constructor(rpc: TcpProxy, pubsub: TcpProxy) {
    this.rpc = rpc;
    this.pubsub = pubsub;
  }

  get #both(): readonly TcpProxy[] {
    return [this.rpc, this.pubsub];
  }

  /** Cuts everything and refuses connections. */
  async kill(): Promise<void> {
    await Promise.all(this.#both.map((proxy) => proxy.kill()));
  }

  async revive(): Promise<void> {
    await Promise.all(this.#both.map((proxy) => proxy.revive()));
  }

  freeze(): void {
    for (const proxy of this.#both) proxy.freeze();
  }

  thaw(): void {
    for (const proxy of this.#both) proxy.thaw();
  }

  async close(): Promise<void> {
    await Promise.all(this.#both.map((proxy) => proxy.close()));
  }
}

export type LedgerSceneOptions = Readonly<{
  upstreams?: number;
  slotMs?: number;
  limits?: Partial<FeedLimits>;
  ledger?: Partial<LocalNodeOptions>;
}>;

const SOL = 1_000_000_000;

/** A real embedded ledger with its JSON-RPC and PubSub, several ways to it that can be cut, and a feed over them. */
export class LedgerScene {
  readonly lab: Lab;
  readonly upstreams: readonly Upstream[];
  readonly pool: UpstreamPool;
  readonly feed: NetworkFeed;
  readonly logged: readonly string[];
  readonly payer: Keypair;
  /** Who gets what is sent; each in turn. */
  readonly recipients: readonly Keypair[] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
  readonly #closers: (() => Promise<unknown> | unknown)[];
  #traffic: NodeJS.Timeout | null = null;
  #count = 0;

  private constructor(
    parts: Pick<LedgerScene, 'lab' | 'upstreams' | 'pool' | 'feed' | 'logged' | 'payer'>,
    closers: (() => Promise<unknown> | unknown)[],
  ) {
    this.lab = parts.lab;
    this.upstreams = parts.upstreams;
    this.pool = parts.pool;
    this.feed = parts.feed;
    this.logged = parts.logged;
    this.payer = parts.payer;
    this.#closers = closers;
  }

  static async open({
    upstreams = 2,
    slotMs = 60,
    limits,
    ledger,
  }: LedgerSceneOptions = {}): Promise<LedgerScene> {
    const logged: string[] = [];
    const log = createLogger('debug', (line) => logged.push(line));
    const lab = await Lab.open({ manual: false, slotMs, ...ledger });
    const payer = lab.wallet(1_000);
    const rpc = await startLocalnetServer(lab.node, { port: 0, log });
    const pubsub = await startPubsubServer(lab.node, { port: 0, log });
    const ways = await Promise.all(
      Array.from(
        { length: upstreams },
        async () => new Upstream(await TcpProxy.start(rpc.port), await TcpProxy.start(pubsub.port)),
      ),
    );
    const nodes: NodeConfig[] = ways.map((way, index) => ({
      name: `node-${index + 1}`,
      url: `http://127.0.0.1:${way.rpc.port}/`,
      ws: `ws://127.0.0.1:${way.pubsub.port}/`,
    }));
    const pool = createUpstreamPool({
      nodes: { devnet: nodes },
      limits: { pollIntervalMs: 100, pollTimeoutMs: 300, attemptTimeoutMs: 400, circuitOpenMs: 200 },
      log,
    });
    pool.start();
    const feed = createFeed({ network: 'devnet', pool, nodes, limits: { ...testLimits, ...limits }, log });
    return new LedgerScene({ lab, upstreams: ways, pool, feed, logged, payer }, [
      () => feed.close(),
      () => pool.stop(),
      ...ways.map((way) => () => way.close()),
      () => pubsub.close(),
      () => rpc.close(),
      () => lab.close(),
    ]);
  }

  get tip(): number {
    return Number(this.lab.node.bank('processed').slot);
  }

  /** A transaction to a recipient; every fifth fails for want of money. */
  sign(to = this.recipients[this.#count % this.recipients.length]!): Transaction {
    this.#count++;
    const lamports = this.#count % 5 === 0 ? 5_000 * SOL : 1_000_000 + this.#count;
    const instruction = SystemProgram.transfer({
      fromPubkey: this.payer.publicKey,
      toPubkey: to.publicKey,
      lamports,
    });
    return this.lab.legacy([this.payer], [instruction]);
  }

  submit(transaction: Transaction): Signature {
    this.lab.node.submit(transaction);
    return transaction.signatures[0]!;
  }

  send(): Signature {
    return this.submit(this.sign());
  }

  /** Sends again and again until `calm`. */
  traffic(everyMs = 20): void {
    this.#traffic = setInterval(() => this.send(), everyMs);
  }

  calm(): void {
    if (this.#traffic !== null) clearInterval(this.#traffic);
    this.#traffic = null;
  }

  /** The blocks of the ledger from one slot to another, both included. */
  blocks(from: number, to: number): Block[] {
    const blocks: Block[] = [];
    for (let slot = from; slot <= to; slot++) {
      const block = this.lab.node.history.block(slotOf(slot));
      if (block !== null) blocks.push(block);
    }
    return blocks;
  }

  /** Signatures of the transactions in these slots that name an address; of all without one. */
  signatures(from: number, to: number, address?: string): string[] {
    return this.blocks(from, to).flatMap(({ transactions }) =>
      transactions
        .filter(
          ({ transaction }) =>
            address === undefined || transaction.message.accountKeys.some((key) => key === address),
        )
        .map(({ transaction }) => transaction.signatures[0]!),
    );
  }

  /** Waits until so many slots have passed. */
  async slots(count: number): Promise<void> {
    const target = this.tip + count;
    await new Promise<void>((resolve) => {
      const end = this.lab.node.onFrozen(() => {
        if (this.tip < target) return;
        end();
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    this.calm();
    for (const close of this.#closers) await close();
  }
}
