import { createLogger } from '../../../src/base/log.ts';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import type { Block } from '../../../src/solana/block.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import { slot as slotOf } from '../../../src/solana/units.ts';
import type { Feed, FeedListener } from '../../../src/streams/feed.ts';
import type { GeyserListener } from '../../../src/streams/geyser/geyser-source.ts';
import {
  type ClosableGeyserSource,
  createGeyserSource,
} from '../../../src/upstream/geyser/create-geyser-source.ts';
import { hasGeyser } from '../../../src/upstream/geyser/geyser-node.ts';
import type { GeyserSourceOptions } from '../../../src/upstream/geyser/geyser-source-options.ts';
import { YellowstoneSource } from '../../../src/upstream/geyser/yellowstone-source.ts';
import type { NodeConfig } from '../../../src/upstream/node.ts';
import { describeUpdate } from './source-rig.ts';

export const keyOf = (number: number) => Keypair.fromSeed(new Uint8Array(32).fill(number)).address;
/** The account whose balance is emitted. */
export const address = keyOf(1);
const nameOf = (subscription: Subscription): string => {
  if (subscription.kind === 'account') return subscription.address;
  return subscription.kind === 'program' ? `of ${subscription.program}` : subscription.kind;
};

export const plain: NodeConfig = { name: 'plain', url: 'http://127.0.0.1:1' };

export class PubsubFallbackStage {
  readonly emitted: string[] = [];
  readonly lost: string[] = [];
  readonly open = new Map<string, FeedListener>();
  /** Names of ended subscriptions, including repetitions. */
  readonly ended: string[] = [];
  readonly blocks = new Map<number, Block>();
  #waiting: (() => void)[] = [];

  readonly feed: Feed = {
    open: async (subscription, listener) => {
      const name = nameOf(subscription);
      this.open.set(name, listener);
      this.#wake();
      return () => {
        this.ended.push(name);
        if (this.open.get(name) === listener) this.open.delete(name);
        this.#wake();
      };
    },
  };

  readonly log: string[] = [];
  readonly source: ClosableGeyserSource;

  /** @param beside - another listener for the same updates. */
  constructor(
    options: Partial<GeyserSourceOptions> = {},
    nodes: readonly NodeConfig[] = [plain],
    beside: GeyserListener | null = null,
  ) {
    const reader = {
      availableSlots: async (from: bigint, to: bigint) => this.#slots(from, to),
      slots: async (from: bigint, to: bigint) => this.#slots(from, to),
      eachBlock: async (
        slots: readonly bigint[],
        _signal: AbortSignal,
        onBlock: (block: Block) => void | Promise<void>,
      ) => {
        for (const slot of slots) await onBlock(this.blocks.get(Number(slot))!);
      },
    };
    const log = createLogger('warn', (line) => this.log.push(line));
    const limits = { reconnectMs: 1, openTimeoutMs: 2_000, ...options };
    const yellowstone = new YellowstoneSource({
      nodes: nodes.filter(hasGeyser),
      reader,
      options: limits,
      log,
    });
    this.source = createGeyserSource(
      { yellowstone, feed: this.feed, reader, options: limits, log },
      {
        onUpdate: (update) => {
          this.emitted.push(describeUpdate(update));
          beside?.onUpdate(update);
          this.#wake();
        },
        onLost: (from, to, kinds) => this.lost.push(`${from}-${to} ${[...kinds].join(' ')}`),
        onReset: (why) => {
          this.emitted.push(`start over: ${why}`);
          beside?.onReset(why);
        },
      },
    );
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  slot(slot: number): void {
    const info = { slot, parent: slot - 1, root: slot - 32 };
    this.open.get('slot')!.onNotification(Buffer.from(JSON.stringify(info)), false);
  }

  account(slot: number, balance: number): void {
    const value = {
      lamports: balance,
      data: ['', 'base64'],
      owner: programs.system,
      executable: false,
      rentEpoch: 0,
      space: 0,
    };
    const result = JSON.stringify({ context: { slot }, value });
    this.open.get(address)!.onNotification(Buffer.from(result), false);
  }

  #slots(from: bigint, to: bigint) {
    return [...this.blocks.keys()].filter((one) => one >= from && one <= to).map((one) => slotOf(one));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
