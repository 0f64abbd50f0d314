import { afterEach, describe, expect, it } from 'vitest';
import type { SubscriptionKind } from '../../../src/protocol/subscriptions.ts';
import { accountJson, accountState, emptyBlock, KEY, slotRange } from './chain-json.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import type { PubsubMock } from './mock/pubsub-server.ts';
import { type Scene, type SceneOptions, stage, subscriptionOf, until } from './stage.ts';

const confirmed = { commitment: 'confirmed' };
const asBytes = { ...confirmed, encoding: 'base64' };
const subscriptions = {
  account: subscriptionOf('account', KEY, asBytes),
  program: subscriptionOf('program', KEY, asBytes),
  logs: subscriptionOf('logs', 'all', confirmed),
} as const;

let scene: Scene;
afterEach(() => scene.close());

const messageAt = {
  account: (slot: number) => accountState(slot, slot),
  program: (slot: number) => ({ context: { slot }, value: { pubkey: KEY, account: accountJson(slot) } }),
  logs: (slot: number) => ({
    context: { slot },
    value: { signature: `signature-${slot}`, err: null, logs: [] },
  }),
} as const;

/** @param readAt - slot of the node that answers reads. */
const chain =
  (readAt: number): NonNullable<SceneOptions['answer']> =>
  (method, params) => {
    if (method === 'getBlocks') return slotRange(params);
    if (method === 'getBlock') return emptyBlock(Number(params[0]));
    if (method === 'getMultipleAccounts') return { context: { slot: readAt }, value: [accountJson(1_005)] };
    return undefined;
  };

const notify = (mock: PubsubMock, kind: SubscriptionKind, result: unknown): void => {
  for (const peer of mock.peers) peer.notify(kind, result);
};

/** Disconnects the first node, waits until the subscription is active on the other, and sends its next slot. */
async function move(kind: SubscriptionKind): Promise<PubsubMock> {
  const [first, second] = scene.mocks;
  first!.cut();
  await until(() => second!.count(`${kind}Subscribe`) === 1, 'the other node is used');
  // The next slot ends the gap, so it must not be sent before the feed waits for it.
  for (const peer of second!.peers) await peer.read();
  second!.tick();
  return second!;
}

/** A subscription that has received notifications for these slots from the first of two nodes. */
async function openOnFirst(kind: keyof typeof subscriptions, slots: readonly number[]): Promise<Recorder> {
  scene = await stage([healthy, healthy], { answer: chain(1_002) });
  const recorder = new Recorder();
  await scene.feed.open(subscriptions[kind], recorder);
  const [first] = scene.mocks;
  first!.tick(5);
  for (const slot of slots) notify(first!, kind, messageAt[kind](slot));
  await recorder.until(({ raw }) => raw.length === slots.length, 'notifications of the first node');
  return recorder;
}

describe('a node slightly behind the failed one', () => {
  it.each(['account', 'program', 'logs'] as const)(
    'causes no duplicates and no older states: %s',
    async (kind) => {
      const recorder = await openOnFirst(kind, [1_003, 1_004, 1_005]);
      const second = await move(kind);
      for (const slot of [1_003, 1_004, 1_005, 1_006]) notify(second, kind, messageAt[kind](slot));
      await recorder.until(({ raw }) => raw.some((one) => one.includes('1006')), 'the next notification');
      expect(recorder.results.map(({ context }) => context.slot)).toEqual([1_003, 1_004, 1_005, 1_006]);
    },
  );

  it('causes no repeated slots and none from an earlier fork', async () => {
    scene = await stage([healthy, healthy], { answer: chain(1_002) });
    const recorder = new Recorder();
    await scene.feed.open(subscriptionOf('slot'), recorder);
    const [first] = scene.mocks;
    first!.tick(1);
    notify(first!, 'slot', { slot: 1_005, parent: 1_001, root: 970 });
    await recorder.until(({ raw }) => raw.length === 2, 'notifications of the first node');
    const second = await move('slot');
    second.tick(5);
    await recorder.until(({ results }) => results.at(-1).slot === 1_006, 'the next slot');
    expect(recorder.results.map(({ slot }) => slot)).toEqual([1_001, 1_005, 1_006]);
  });
});

describe('a node that reports an implausible slot', () => {
  const LIE = Number.MAX_SAFE_INTEGER;
  const slotInfo = (slot: number) => ({ slot, parent: slot - 1, root: slot - 32 });

  it.each([
    ['slot', subscriptionOf('slot'), slotInfo],
    ['root', subscriptionOf('root'), (slot: number) => slot],
    ['account', subscriptions.account, messageAt.account],
    ['program', subscriptions.program, messageAt.program],
  ] as const)('is replaced without affecting the subscriber: %s', async (kind, subscription, messageOf) => {
    scene = await stage([healthy, healthy], { answer: chain(1_002) });
    const recorder = new Recorder();
    await scene.feed.open(subscription, recorder);
    const [first, second] = scene.mocks;
    notify(first!, kind, messageOf(1_001));
    await recorder.until(({ raw }) => raw.length === 1, 'the first notification');
    notify(first!, kind, messageOf(LIE));
    await until(() => second!.count(`${kind}Subscribe`) === 1, 'the other node is used');
    for (const peer of second!.peers) await peer.read();
    second!.tick();
    notify(second!, kind, messageOf(1_006));
    await recorder.until(({ raw }) => raw.at(-1)!.includes('1006'), 'the next notification');
    expect(recorder.raw.join()).not.toContain(String(LIE));
    expect(recorder.failures).toEqual([]);
  });
});

it('a node that falls behind is replaced when another is closer to the tip', async () => {
  scene = await stage([healthy, healthy]);
  await scene.feed.open(subscriptionOf('vote'), new Recorder());
  const [first, other] = scene.mocks;
  other!.tick(100);
  scene.networkSlot(1_100);
  await until(() => other!.count('voteSubscribe') === 1, 'it is opened on the other node');
  expect(first!.count('voteSubscribe')).toBe(1);
  expect(scene.logged.filter((line) => line.includes('lagging'))).toHaveLength(1);
});
