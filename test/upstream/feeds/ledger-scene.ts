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
import { ProxyGroup } from '../../chaos/proxy-group.ts';
import { testLimits } from './stage.ts';

export type LedgerSceneOptions = Readonly<{
  upstreams?: number;
  slotMs?: number;
  limits?: Partial<FeedLimits>;
  ledger?: Partial<LocalNodeOptions>;
}>;

const SOL = 1_000_000_000;

/** A real embedded ledger behind several nodes that can fail, and a feed over them. */
export class LedgerScene {
  readonly lab: Lab;
  /** Nodes: proxies of the JSON-RPC and the PubSub of the ledger. */
  readonly upstreams: readonly ProxyGroup[];
  readonly pool: UpstreamPool;
  readonly feed: NetworkFeed;
  readonly logged: readonly string[];
  readonly payer: Keypair;
  /** Recipients of transactions, in turn. */
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
    const proxies = await Promise.all(
      Array.from({ length: upstreams }, () => ProxyGroup.start(rpc.port, pubsub.port)),
    );
    const nodes: NodeConfig[] = proxies.map((node, index) => ({
      name: `node-${index + 1}`,
      url: `http://127.0.0.1:${node.port(0)}/`,
      ws: `ws://127.0.0.1:${node.port(1)}/`,
    }));
    const pool = createUpstreamPool({
      nodes: { devnet: nodes },
      limits: { pollIntervalMs: 100, pollTimeoutMs: 300, attemptTimeoutMs: 400, circuitOpenMs: 200 },
      log,
    });
    pool.start();
    const feed = createFeed({ network: 'devnet', pool, nodes, limits: { ...testLimits, ...limits }, log });
    return new LedgerScene({ lab, upstreams: proxies, pool, feed, logged, payer }, [
      () => feed.close(),
      () => pool.stop(),
      ...proxies.map((node) => () => node.close()),
      () => pubsub.close(),
      () => rpc.close(),
      () => lab.close(),
    ]);
  }

  get tip(): number {
    return Number(this.lab.node.bank('processed').slot);
  }

  /** A transaction to a recipient; every fifth fails for lack of funds. */
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

  /** Sends transactions until `calm`. */
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
