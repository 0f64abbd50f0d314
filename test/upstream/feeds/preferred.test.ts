import { afterEach, expect, it } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';
import type { FeedListener } from '../../../src/streams/feed.ts';
import type { PreferredFeed } from '../../../src/upstream/feeds/feeds.ts';
import { Recorder } from './listener.ts';
import { obliging } from './mock/obliging.ts';
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

  toldUpTo(): null {
    return null;
  }

  transactionsTold(): never {
    throw new Error('nobody asks for transactions');
  }

  close(): void {}
}

it('a feed that is given up before it told a slot leaves no gap behind', async () => {
  const preferred = new SilentFeed();
  scene = await stage([obliging], {
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
  preferred.listeners[0]!.fail(new Failure('UPSTREAM_UNAVAILABLE'));
  await until(() => mock!.count('rootSubscribe') === 1, 'PubSub is asked');
  for (const peer of mock!.peers) await peer.read();
  mock!.tick();
  await heard.until(({ raw }) => raw.length === 6, 'the roots since it was opened');
  expect(heard.raw).toEqual(['969', '970', '971', '972', '973', '974']);
});
