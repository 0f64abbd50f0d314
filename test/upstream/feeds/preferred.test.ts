import { afterEach, expect, it } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';
import type { FeedListener } from '../../../src/streams/feed.ts';
import type { PreferredFeed } from '../../../src/upstream/feeds/feeds.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
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

it('a preferred feed that fails before its first slot leaves no gap', async () => {
  const preferred = new SilentFeed();
  scene = await stage([healthy], {
    preferred,
    answer: (method, [from, to]) =>
      method === 'getBlocks'
        ? Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at)
        : undefined,
  });
  const [mock] = scene.mocks;
  const recorder = new Recorder();
  await scene.feed.open(subscriptionOf('root'), recorder);
  mock!.tick(5);
  preferred.listeners[0]!.onError(new Failure('UPSTREAM_UNAVAILABLE'));
  await until(() => mock!.count('rootSubscribe') === 1, 'PubSub is asked');
  for (const peer of mock!.peers) await peer.read();
  mock!.tick();
  await recorder.until(({ raw }) => raw.length === 6, 'the roots since it was opened');
  expect(recorder.raw).toEqual(['969', '970', '971', '972', '973', '974']);
});

/** Tells slots and knows no blocks. */
class SlotFeed extends SilentFeed {
  override serves(kind?: string): boolean {
    return kind === 'slot';
  }
}

it('blocks follow the slots of a preferred feed without PubSub', async () => {
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
  const recorder = new Recorder();
  const blocks = { commitment: 'confirmed', transactionDetails: 'none' };
  await scene.feed.open(subscriptionOf('block', 'all', blocks), recorder);
  preferred.listeners[0]!.onNotification(Buffer.from('{"slot":1001,"parent":1000,"root":969}'), false);
  await recorder.until(({ raw }) => raw.length === 1, 'the block');
  expect(recorder.results[0].value.slot).toBe(1_001);
});
