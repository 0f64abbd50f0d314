import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ScriptedFeed } from '../../../test/streams/scripted-feed.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import type { Notification } from '../../streams/notification.ts';
import type { OpenSubscription, Subscriber } from '../../streams/session.ts';
import { TopicHub } from './topic-hub.ts';

const slot: Subscription = { kind: 'slot' };
const root: Subscription = { kind: 'root' };
const signature = { kind: 'signature', signature: 's', commitment: 'confirmed', received: true };

/** Records notifications as JSON texts and failures by their codes. */
class Sink implements Subscriber {
  readonly received: string[] = [];
  readonly notifications: Notification[] = [];

  onNotification(notification: Notification, isLast: boolean): void {
    this.notifications.push(notification);
    const { bytes } = notification.frame(7);
    this.received.push(`${JSON.parse(bytes.subarray(2).toString()).params.result}${isLast ? ' last' : ''}`);
  }

  onError(failure: Failure): void {
    this.received.push(failure.code);
  }
}

let feed: ScriptedFeed;
let hub: TopicHub;

async function join(subscription: unknown = slot, sink = new Sink()): Promise<[OpenSubscription, Sink]> {
  const open = await hub.join(subscription as Subscription, sink);
  open.start();
  return [open, sink];
}

beforeEach(() => {
  vi.useFakeTimers();
  feed = new ScriptedFeed();
  hub = new TopicHub(feed, { graceMs: 5_000, openTimeoutMs: 1_000, topicsMax: 2, bufferedMax: 3 });
});

afterEach(() => {
  hub.close();
  vi.useRealTimers();
});

describe('equal subscriptions', () => {
  it('share one feed subscription and one notification object', async () => {
    const sinks = await Promise.all(Array.from({ length: 100 }, () => join()));
    feed.emit('slot', '1');
    expect(feed.openings).toHaveLength(1);
    const shared = new Set(sinks.map(([, sink]) => sink.notifications[0]));
    expect([shared.size, shared.has(undefined)]).toEqual([1, false]);
  });

  it('all receive a feed failure, and a new one reopens the feed', async () => {
    const [, a] = await join();
    const [, b] = await join();
    feed.openings[0]?.listener.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    feed.openings[0]?.listener.onNotification(Buffer.from('1'), false);
    expect([a.received, b.received]).toEqual([['UPSTREAM_UNAVAILABLE'], ['UPSTREAM_UNAVAILABLE']]);
    await join();
    expect(feed.openings).toHaveLength(2);
  });
});

describe('feed at its limit', () => {
  const full = new Failure('OVERLOADED');

  it('is retried once after idle topics are closed', async () => {
    const [open] = await join();
    open.close();
    feed.gate = async ({ kind }) => {
      if (kind === 'root' && feed.live.some(({ subscription }) => subscription.kind === 'slot')) throw full;
    };
    const [, sink] = await join(root);
    feed.emit('root', '1');
    expect([sink.received.at(-1), feed.openings[0]?.closed, hub.size]).toEqual(['1', true, 1]);
  });

  it('is not retried without idle topics', async () => {
    await join();
    feed.gate = () => Promise.reject(full);
    await expect(join(root)).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(feed.openings).toHaveLength(2);
  });
});

describe('topic limits', () => {
  const listOf = (count: number, first: string) => ({
    kind: 'transaction',
    dialect: 'helius',
    filter: { include: Array(count).fill(first), exclude: [], required: [] },
  });

  it('limit addresses, closing idle topics first', async () => {
    hub = new TopicHub(feed, { addressesMax: 5 });
    const [first] = await join(listOf(3, 'a'));
    await expect(join(listOf(3, 'b'))).rejects.toMatchObject({ code: 'OVERLOADED' });
    await join(listOf(3, 'a'));
    await join(listOf(2, 'c'));
    expect(hub.size).toBe(2);
    first.close();
    await expect(join(listOf(2, 'd'))).rejects.toMatchObject({ code: 'OVERLOADED' });
    // The limit does not affect subscriptions of a single address.
    await join(listOf(1, 'e'));
  });

  it('limit idle topics', async () => {
    hub = new TopicHub(feed, { idleMax: 2 });
    for (let at = 0; at < 5; at++) (await join(listOf(1, `${at}`)))[0].close();
    expect([hub.size, feed.live.length]).toEqual([2, 2]);
    expect(feed.openings.map(({ closed }) => closed)).toEqual([true, true, true, false, false]);
  });
});

it('a slow feed times out with UPSTREAM_TIMEOUT and is closed if it opens later', async () => {
  const gate = Promise.withResolvers<void>();
  feed.gate = () => gate.promise;
  const joining = join();
  const refused = expect(joining).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
  gate.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect([feed.live.length, hub.size]).toEqual([0, 0]);
});

it('an ended subscription keeps the topic open for the grace period', async () => {
  const [open] = await join();
  open.close();
  vi.advanceTimersByTime(4_999);
  const [again, sink] = await join();
  vi.advanceTimersByTime(60_000);
  feed.emit('slot', '1');
  expect([feed.openings.length, feed.live.length, sink.received]).toEqual([1, 1, ['1']]);
  again.close();
  vi.advanceTimersByTime(5_000);
  expect([feed.live.length, hub.size, vi.getTimerCount()]).toEqual([0, 0, 0]);
});

describe('notifications before start', () => {
  it('are delivered after it in order', async () => {
    const sink = new Sink();
    const open = await hub.join(slot, sink);
    feed.emit('slot', '1');
    feed.emit('slot', '2');
    expect(sink.received).toEqual([]);
    open.start();
    feed.emit('slot', '3');
    expect(sink.received).toEqual(['1', '2', '3']);
  });

  it('are not lost if the feed emits before it is open', async () => {
    feed.gate = async () => feed.openings[0]?.listener.onNotification(Buffer.from('1'), true);
    const [, sink] = await join(signature);
    expect([sink.received, hub.size]).toEqual([['1 last'], 0]);
  });

  it('are limited by bufferedMax; beyond it the subscription fails', async () => {
    const sink = new Sink();
    const open = await hub.join(slot, sink);
    for (const one of ['1', '2', '3', '4', '5']) feed.emit('slot', one);
    open.start();
    expect(sink.received).toEqual(['1', '2', '3', 'OVERLOADED']);
  });

  it('are dropped if the subscription ends first', async () => {
    const sink = new Sink();
    const open = await hub.join(slot, sink);
    feed.emit('slot', '1');
    open.close();
    open.start();
    expect(sink.received).toEqual([]);
  });
});

it('a signature subscription sends the first notification to later subscribers', async () => {
  await join(signature);
  feed.emit('signature', '"received"');
  const [, late] = await join(signature);
  feed.emit('signature', '"done"', true);
  expect([late.received, feed.openings.length]).toEqual([['received', 'done last'], 1]);
});
