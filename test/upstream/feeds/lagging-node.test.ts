import { afterEach, describe, expect, it } from 'vitest';
import type { SubscriptionKind } from '../../../src/protocol/subscriptions.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import type { PubsubMock } from './mock/pubsub-server.ts';
import { type Scene, type SceneOptions, stage, subscriptionOf, until } from './stage.ts';

const KEY = 'Vote111111111111111111111111111111111111111';
const confirmed = { commitment: 'confirmed' };
const asBytes = { ...confirmed, encoding: 'base64' };
const subscriptions = {
  account: subscriptionOf('account', KEY, asBytes),
  program: subscriptionOf('program', KEY, asBytes),
  logs: subscriptionOf('logs', 'all', confirmed),
} as const;

let scene: Scene;
afterEach(() => scene.close());

/** An account that holds as many lamports as the slot. */
const accountAt = (slot: number) => ({
  lamports: slot,
  data: ['', 'base64'],
  owner: KEY,
  executable: false,
  rentEpoch: 0,
  space: 0,
});

const messageAt = {
  account: (slot: number) => ({ context: { slot }, value: accountAt(slot) }),
  program: (slot: number) => ({ context: { slot }, value: { pubkey: KEY, account: accountAt(slot) } }),
  logs: (slot: number) => ({
    context: { slot },
    value: { signature: `signature-${slot}`, err: null, logs: [] },
  }),
} as const;

const range = ([from, to]: readonly unknown[]): number[] =>
  Array.from({ length: Math.max(0, Number(to) - Number(from) + 1) }, (_, i) => Number(from) + i);

const emptyBlock = (slot: number) => ({
  blockhash: KEY,
  previousBlockhash: KEY,
  parentSlot: slot - 1,
  blockHeight: slot,
  blockTime: 1,
  transactions: [],
  rewards: [],
});

/** @param readAt - the slot of the node that answers what is read. */
const chain =
  (readAt: number): NonNullable<SceneOptions['answer']> =>
  (method, params) => {
    if (method === 'getBlocks') return range(params);
    if (method === 'getBlock') return emptyBlock(Number(params[0]));
    if (method === 'getMultipleAccounts') return { context: { slot: readAt }, value: [accountAt(1_005)] };
    return undefined;
  };

const notify = (mock: PubsubMock, kind: SubscriptionKind, result: unknown): void => {
  for (const peer of mock.peers) peer.notify(kind, result);
};

/** Lets the first node die and waits until the subscription stands on the other, which tells its next slot. */
async function move(kind: SubscriptionKind): Promise<PubsubMock> {
  const [first, second] = scene.mocks;
  first!.cut();
  await until(() => second!.count(`${kind}Subscribe`) === 1, 'the other node is asked');
  // The slot that comes next shows where the gap ends: it must not come before that is waited for.
  for (const peer of second!.peers) await peer.read();
  second!.tick();
  return second!;
}

describe('a node slightly behind the failed one', () => {
  it.each(['account', 'program', 'logs'] as const)(
    'causes no duplicates and no older states: %s',
    async (kind) => {
      scene = await stage([healthy, healthy], { answer: chain(1_002) });
      const recorder = new Recorder();
      await scene.feed.open(subscriptions[kind], recorder);
      const [first] = scene.mocks;
      first!.tick(5);
      for (const slot of [1_003, 1_004, 1_005]) notify(first!, kind, messageAt[kind](slot));
      await recorder.until(({ raw }) => raw.length === 3, 'what the first node tells');
      const second = await move(kind);
      for (const slot of [1_003, 1_004, 1_005, 1_006]) notify(second, kind, messageAt[kind](slot));
      await recorder.until(({ raw }) => raw.some((one) => one.includes('1006')), 'what comes next');
      expect(recorder.results.map(({ context }) => context.slot)).toEqual([1_003, 1_004, 1_005, 1_006]);
    },
  );

  it('causes no duplicates even after evictions', async () => {
    scene = await stage([healthy, healthy], { answer: chain(1_002), limits: { seenMax: 1 } });
    const recorder = new Recorder();
    await scene.feed.open(subscriptions.logs, recorder);
    const [first] = scene.mocks;
    first!.tick(5);
    for (const slot of [1_003, 1_004, 1_005]) notify(first!, 'logs', messageAt.logs(slot));
    await recorder.until(({ raw }) => raw.length === 3, 'what the first node tells');
    const second = await move('logs');
    for (const slot of [1_003, 1_004, 1_006]) notify(second, 'logs', messageAt.logs(slot));
    await recorder.until(({ raw }) => raw.some((one) => one.includes('1006')), 'what comes next');
    expect(recorder.results.map(({ context }) => context.slot)).toEqual([1_003, 1_004, 1_005, 1_006]);
  });

  it('emits what the failed one did not', async () => {
    scene = await stage([healthy, healthy], { answer: chain(1_002) });
    const recorder = new Recorder();
    await scene.feed.open(subscriptions.logs, recorder);
    const [first] = scene.mocks;
    first!.tick(5);
    notify(first!, 'logs', messageAt.logs(1_005));
    await recorder.until(({ raw }) => raw.length === 1, 'what the first node tells');
    const second = await move('logs');
    for (const slot of [1_004, 1_005]) notify(second, 'logs', messageAt.logs(slot));
    await recorder.until(({ raw }) => raw.length === 2, 'what was not told');
    expect(recorder.results.map(({ context }) => context.slot)).toEqual([1_005, 1_004]);
  });

  it('repeats no slot and none of an earlier fork', async () => {
    scene = await stage([healthy, healthy], { answer: chain(1_002) });
    const recorder = new Recorder();
    await scene.feed.open(subscriptionOf('slot'), recorder);
    const [first] = scene.mocks;
    first!.tick(1);
    notify(first!, 'slot', { slot: 1_005, parent: 1_001, root: 970 });
    await recorder.until(({ raw }) => raw.length === 2, 'what the first node tells');
    const second = await move('slot');
    second.tick(5);
    await recorder.until(({ results }) => results.at(-1).slot === 1_006, 'the next slot');
    expect(recorder.results.map(({ slot }) => slot)).toEqual([1_001, 1_005, 1_006]);
  });
});

describe('a gap at confirmed', () => {
  it('starts at the confirmed slot, regardless of how far slots have advanced', async () => {
    scene = await stage([healthy, healthy], { answer: chain(1_050) });
    const recorder = new Recorder();
    await scene.feed.open(subscriptions.logs, recorder);
    const [first, other] = scene.mocks;
    notify(first!, 'logs', messageAt.logs(1_005));
    await recorder.until(({ raw }) => raw.length === 1, 'what the first node tells');
    first!.tick(40);
    other!.tick(40);
    for (const peer of first!.peers) await peer.read();
    await move('logs');
    await until(() => scene.requests.some(({ method }) => method === 'getBlock'), 'blocks are read');
    const read = scene.requests.find(({ method }) => method === 'getBlocks');
    expect(JSON.parse(read?.params?.toString() ?? '')[0]).toBe(1_005);
  });
});

describe('a node that falls behind', () => {
  const vote = subscriptionOf('vote');
  const behind = (): number => scene.logged.filter((line) => line.includes('lagging')).length;

  async function fallBehind(): Promise<void> {
    scene = await stage([healthy, healthy]);
    await scene.feed.open(vote, new Recorder());
  }

  /** The watchdog looks several times meanwhile. */
  async function tickOn(): Promise<void> {
    for (let ticks = 0; ticks < 10; ticks++) {
      scene.mocks[0]!.tick();
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  }

  it('is left when another is better', async () => {
    await fallBehind();
    const [first, other] = scene.mocks;
    other!.tick(100);
    scene.networkSlot(1_100);
    await until(() => other!.count('voteSubscribe') === 1, 'it is opened on the other node');
    expect([first!.count('voteSubscribe'), behind()]).toEqual([1, 1]);
  });

  it('is kept when the other does not answer', async () => {
    await fallBehind();
    const [first, other] = scene.mocks;
    await other!.close();
    scene.networkSlot(1_100);
    await until(() => scene.logged.some((line) => line.includes('"node":"node-2"')), 'the other is tried');
    await tickOn();
    expect([first!.count('voteSubscribe'), behind()]).toEqual([1, 0]);
  });

  it('is kept when the other is behind too', async () => {
    await fallBehind();
    const [first, other] = scene.mocks;
    scene.networkSlot(1_100);
    await until(() => other!.count('slotSubscribe') === 1, 'the other is tried');
    const ticking = setInterval(() => other!.tick(), 20);
    await tickOn();
    clearInterval(ticking);
    expect([first!.count('voteSubscribe'), other!.count('voteSubscribe'), behind()]).toEqual([1, 0, 0]);
  });
});
