import { afterEach, expect, it } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';
import type { FeedListener } from '../../../src/streams/feed.ts';
import type { PreferredFeed } from '../../../src/upstream/feeds/feeds.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/healthy.ts';
import { type Scene, stage, subscriptionOf, until } from './stage.ts';

let scene: Scene;
afterEach(() => scene.close());

/** A feed that opens everything and tells nothing. */
class SilentFeed implements PreferredFeed {
  readonly listeners: FeedListener[] = [];

  serves(): boolean {
    return true;
  }

  open(_: unknown, listener: FeedListener): Promise<() => void> {
    this.listeners.push(listener);
    return Promise.resolve(() => {});
  }

  position(): null {
    return null;
  }

  emittedUpTo(): null {
    return null;
  }

  emittedTransactions(): never {
    throw new Error('nobody asks for transactions');
  }

  setNodes(): void {}

  close(): void {}
}

it('a feed that is given up before it told a slot leaves no gap behind', async () => {
  const preferred = new SilentFeed();
  scene = await stage([healthy], {
    preferred,
    answer: (method, [from, to]) =>
      method === 'getBlocks'
        ? Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at)
        : undefined,
  });
  const [mock] = scene.mocks;
  const heard = new Recorder();
  await scene.feed.open(subscriptionOf('root'), heard);
  mock!.tick(5);
  preferred.listeners[0]!.onError(new Failure('UPSTREAM_UNAVAILABLE'));
  await until(() => mock!.count('rootSubscribe') === 1, 'PubSub is asked');
  for (const peer of mock!.peers) await peer.read();
  mock!.tick();
  await heard.until(({ raw }) => raw.length === 6, 'the roots since it was opened');
  expect(heard.raw).toEqual(['969', '970', '971', '972', '973', '974']);
});

/** Tells slots and knows no blocks. */
class SlotFeed extends SilentFeed {
  override serves(kind?: string): boolean {
    return kind === 'slot';
  }
}

it('blocks are followed by the slots of a preferred feed where no node has PubSub', async () => {
  const preferred = new SlotFeed();
  const KEY = 'Vote111111111111111111111111111111111111111';
  scene = await stage([], {
    preferred,
    answer(method, [slot]) {
      if (method === 'getBlocks') return [1_001];
      if (method !== 'getBlock') return 1_000;
      const hashes = { blockhash: KEY, previousBlockhash: KEY, parentSlot: 1_000, blockHeight: slot };
      return { ...hashes, blockTime: 1, transactions: [], rewards: [] };
    },
  });
  const heard = new Recorder();
  const blocks = { commitment: 'confirmed', transactionDetails: 'none' };
  await scene.feed.open(subscriptionOf('block', 'all', blocks), heard);
  preferred.listeners[0]!.onNotification(Buffer.from('{"slot":1001,"parent":1000,"root":969}'), false);
  await heard.until(({ raw }) => raw.length === 1, 'the block');
  expect(heard.results[0].value.slot).toBe(1_001);
});
