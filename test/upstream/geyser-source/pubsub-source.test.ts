import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import type { Block } from '../../../src/ledger/block.ts';
import { Keypair } from '../../../src/ledger/ed25519.ts';
import { programs } from '../../../src/ledger/programs.ts';
import { slot as slotOf } from '../../../src/ledger/units.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import type { Feed, FeedListener } from '../../../src/streams/feed.ts';
import { createGeyserSource } from '../../../src/upstream/geyser-source/create-geyser-source.ts';
import { blockOf, words } from './source-rig.ts';

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const nameOf = (subscription: Subscription): string =>
  subscription.kind === 'account' ? subscription.address : subscription.kind;

/** Subscriptions and blocks that a test tells of. */
class Stage {
  readonly told: string[] = [];
  readonly lost: string[] = [];
  readonly open = new Map<string, FeedListener>();
  /** Subscriptions that were ended, each time. */
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

  readonly source = createGeyserSource(
    {
      nodes: [{ name: 'plain', url: 'http://127.0.0.1:1' }],
      feed: this.feed,
      reader: {
        known: async (from, to) => this.#slots(from, to),
        slots: async (from, to) => this.#slots(from, to),
        eachBlock: async (slots, _signal, tell) => {
          for (const slot of slots) await tell(this.blocks.get(Number(slot))!);
        },
      },
      options: { reconnectMs: 1, openTimeoutMs: 2_000 },
      log: createLogger('silent', () => {}),
    },
    {
      tell: (update) => {
        this.told.push(words(update));
        this.#wake();
      },
      lost: (from, to) => this.lost.push(`${from}-${to}`),
    },
  );

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  slot(slot: number): void {
    const info = { slot, parent: slot - 1, root: slot - 32 };
    this.open.get('slot')!.notify(Buffer.from(JSON.stringify(info)), false);
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
    this.open.get(address)!.notify(Buffer.from(result), false);
  }

  #slots(from: bigint, to: bigint) {
    return [...this.blocks.keys()].filter((one) => one >= from && one <= to).map((one) => slotOf(one));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

const stages: Stage[] = [];
afterEach(() => {
  for (const stage of stages.splice(0)) stage.source.close();
});

/** A stage whose blocks are followed from 100 on. */
async function start(fromSlot: number | null = null) {
  const stage = new Stage();
  stages.push(stage);
  expect(stage.source.isGeyser).toBe(false);
  for (const slot of [98, 99, 100]) stage.blocks.set(slot, blockOf(slot, 9));
  const wish = stage.source.want(
    { accounts: new Map([['a', { account: [address] }]]), transactions: new Map([['t', {}]]) },
    fromSlot === null ? null : slotOf(fromSlot),
  );
  await stage.until(() => ['slot', 'root', address].every((name) => stage.open.has(name)));
  stage.slot(101);
  return { stage, wish };
}

describe('a network without Geyser', () => {
  it('is told block by block when it is confirmed, with its accounts, and later its roots', async () => {
    const { stage, wish } = await start();
    await wish.ready;
    stage.account(101, 5);
    stage.account(101, 6);
    stage.blocks.set(101, blockOf(101, 1, 2));
    stage.slot(102);
    await stage.until(() => stage.told.includes('101 confirmed'));
    stage.account(101, 7);
    stage.blocks.set(102, blockOf(102, 3));
    stage.slot(103);
    await stage.until(() => stage.told.includes('102 confirmed'));
    stage.open.get('root')!.notify(Buffer.from('102'), false);
    expect(stage.told).toEqual([
      '101 createdBank',
      '101 account 5',
      '101 account 6',
      '101 transfer 1',
      '101 transfer 2',
      '101 meta',
      '101 processed',
      '101 confirmed',
      // It came too late.
      '101 account 7',
      '102 createdBank',
      '102 transfer 3',
      '102 meta',
      '102 processed',
      '102 confirmed',
      '101 finalized',
      '102 finalized',
    ]);
    expect(stage.lost).toEqual([]);
  });

  it('tells older blocks when a wish names a slot', async () => {
    const { stage, wish } = await start(99);
    await wish.ready;
    stage.blocks.set(101, blockOf(101, 1));
    stage.slot(102);
    await stage.until(() => stage.told.includes('101 confirmed'));
    expect(stage.told.filter((line) => line.endsWith('processed'))).toEqual([
      '99 processed',
      '100 processed',
      '101 processed',
    ]);
  });

  it('goes on with slots after their subscription has failed, and keeps nothing of those that did', async () => {
    const { stage, wish } = await start();
    await wish.ready;
    for (let times = 0; times < 3; times++) {
      const listener = stage.open.get('slot')!;
      stage.open.delete('slot');
      listener.fail(new Failure('UPSTREAM_UNAVAILABLE'));
      await stage.until(() => stage.open.has('slot'));
    }
    stage.blocks.set(101, blockOf(101, 1));
    stage.slot(102);
    await stage.until(() => stage.told.includes('101 confirmed'));
    stage.source.close();
    expect(stage.ended.toSorted()).toEqual([address, 'root', 'slot'].toSorted());
  });

  it('hears of accounts again after their subscription has failed, and no more when nobody wants them', async () => {
    const { stage, wish } = await start();
    await wish.ready;
    const listener = stage.open.get(address)!;
    stage.open.delete(address);
    listener.fail(new Failure('UPSTREAM_UNAVAILABLE'));
    await stage.until(() => stage.open.has(address));
    wish.end();
    await stage.until(() => !stage.open.has(address));
  });
});
