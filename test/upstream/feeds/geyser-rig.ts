import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger } from '../../../src/base/log.ts';
import type { MethodName } from '../../../src/protocol/methods.ts';
import type { Subscription, SubscriptionOf } from '../../../src/protocol/subscriptions.ts';
import type { Address } from '../../../src/solana/address.ts';
import type { Block } from '../../../src/solana/block.ts';
import { slot as slotOf } from '../../../src/solana/units.ts';
import { GeyserFeed } from '../../../src/upstream/feeds/geyser/geyser-feed.ts';
import type { GeyserLimits } from '../../../src/upstream/feeds/geyser/limits.ts';
import type { GeyserSourceOptions } from '../../../src/upstream/geyser/geyser-source-options.ts';
import { YellowstoneSource } from '../../../src/upstream/geyser/yellowstone-source.ts';
import type { GeyserServer } from './geyser-server.ts';
import { Recorder } from './listener.ts';

type GeyserRigOptions = Readonly<{
  limits?: Partial<GeyserLimits>;
  source?: Partial<GeyserSourceOptions>;
  /** Blocks by slot, used when no server supports replay. */
  blocks?: ReadonlyMap<number, Block>;
}>;

const quick: Partial<GeyserSourceOptions> = {
  requestDelayMs: 1,
  ackTimeoutMs: 500,
  reconnectMs: 5,
  reconnectMaxMs: 20,
  fillTimeoutMs: 500,
};

/** A feed with its own source; tests can inspect the log and the requests. */
export class GeyserRig {
  readonly log: string[] = [];
  readonly requested: string[] = [];
  readonly answers: Partial<Record<MethodName, () => string>> = { getSlot: () => '90' };
  readonly source: YellowstoneSource;
  readonly feed: GeyserFeed;
  #held: Promise<unknown> | null = null;

  constructor(
    urls: readonly string[],
    { limits = {}, source = {}, blocks = new Map() }: GeyserRigOptions = {},
  ) {
    const log = createLogger('debug', (line) => this.log.push(line));
    this.source = new YellowstoneSource({
      nodes: urls.map((grpc, index) => ({
        ...{ name: `node-${index}`, url: 'http://127.0.0.1:1', grpc },
        headers: { 'X-Token': 'a-secret-token' },
      })),
      options: { ...quick, ...source },
      log,
      reader: {
        slots: async (from, to) => [...blocks.keys()].map(slotOf).filter((one) => one >= from && one <= to),
        eachBlock: async (slots, _signal, onBlock) => {
          for (const slot of slots) await onBlock(blocks.get(Number(slot))!);
        },
      },
    });
    this.feed = new GeyserFeed({
      ...{ source: this.source, limits, log },
      reader: { request: (method) => this.#request(method) },
    });
  }

  close(): void {
    this.feed.close();
    this.source.close();
  }

  /** Starts the source and waits until it has received a slot from each server. */
  async start(...servers: readonly GeyserServer[]): Promise<void> {
    this.source.start();
    for (const server of servers) {
      await server.until(() => server.pings.length > 0);
      server.slot(99);
    }
    while (this.source.newest !== 99n) await nextTurn();
  }

  async #request(method: MethodName): Promise<Buffer> {
    this.requested.push(method);
    await this.#held;
    const answer = this.answers[method];
    if (answer === undefined) throw new Error('nobody answers');
    return Buffer.from(answer());
  }

  hold(until: Promise<unknown>): void {
    this.#held = until;
  }

  async open(subscription: Subscription): Promise<Recorder & { end: () => void }> {
    const recorder = new Recorder();
    const end = await this.feed.open(subscription, recorder);
    return Object.assign(recorder, { end });
  }
}

export const watch = (
  address: Address,
  commitment: 'processed' | 'confirmed' | 'finalized' = 'processed',
): SubscriptionOf<'account'> => ({ kind: 'account', address, commitment, encoding: 'base64' });

export const logs = (of: SubscriptionOf<'logs'>['of']): Subscription => ({
  kind: 'logs',
  of,
  commitment: 'processed',
});
