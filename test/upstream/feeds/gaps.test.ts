import { afterEach, describe, expect, it } from 'vitest';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import { type Scene, type SceneOptions, stage, subscriptionOf, until } from './stage.ts';

const KEY = 'Vote111111111111111111111111111111111111111';
const account = subscriptionOf('account', KEY, { commitment: 'confirmed', encoding: 'base64' });

let scene: Scene;
afterEach(() => scene.close());

/** A feed over one obliging node, with a subscription that its listener hears. */
async function open(
  subscription: Parameters<Scene['feed']['open']>[0],
  options: SceneOptions,
): Promise<Recorder> {
  scene = await stage([healthy], options);
  const recorder = new Recorder();
  await scene.feed.open(subscription, recorder);
  return recorder;
}

/** Cuts the connection for some slots, and waits until the subscription stands again and hears of the next slot. */
async function cut(method: string, slots = 5): Promise<void> {
  const [mock] = scene.mocks;
  const before = mock!.count(method);
  mock!.cut();
  mock!.tick(slots);
  await until(() => mock!.count(method) > before, `${method} again`);
  for (const peer of mock!.peers) await peer.read();
  mock!.tick();
}

const notify = (kind: string, result: unknown): void => {
  for (const peer of scene.mocks[0]!.peers) peer.notify(kind, result);
};
const root = subscriptionOf('root');
const state = (slot: number, lamports: number) => ({
  context: { slot },
  value: { lamports, data: ['', 'base64'], owner: KEY, executable: false, rentEpoch: 0, space: 0 },
});
const range = ([from, to]: readonly unknown[], tip: number): number[] =>
  Array.from(
    { length: Math.max(0, Math.min(Number(to), tip) - Number(from) + 1) },
    (_, i) => Number(from) + i,
  );

describe('a gap', () => {
  it('is filled once a node has caught up', async () => {
    let requests = 0;
    // The first answers are those of a node behind: short, without saying so.
    const recorder = await open(root, {
      answer: (method, params) =>
        method === 'getBlocks' ? range(params, requests++ < 2 ? 970 : 10_000) : undefined,
    });
    notify('root', 968);
    await recorder.until(({ raw }) => raw.length === 1, 'the first root');
    await cut('rootSubscribe');
    await recorder.until(({ raw }) => raw.at(-1) === '974', 'the missed roots');
    notify('root', 974);
    notify('root', 975);
    await recorder.until(({ raw }) => raw.at(-1) === '975', 'the live root');
    expect(recorder.raw).toEqual(['968', '969', '970', '971', '972', '973', '974', '975']);
    expect(requests).toBeGreaterThan(2);
  });

  it('is filled before buffered live notifications are emitted', async () => {
    const gate = Promise.withResolvers<void>();
    let isOpen = false;
    void gate.promise.then(() => {
      isOpen = true;
    });
    const recorder = await open(root, {
      answer: (method, params) => (method === 'getBlocks' ? range(params, isOpen ? 10_000 : 0) : undefined),
    });
    notify('root', 968);
    await cut('rootSubscribe', 1);
    notify('root', 971);
    await until(() => scene.requests.some(({ method }) => method === 'getBlocks'), 'the gap is read');
    expect(recorder.raw).toEqual(['968']);
    gate.resolve();
    await recorder.until(({ raw }) => raw.length === 4, 'all of it');
    expect(recorder.raw).toEqual(['968', '969', '970', '971']);
  });

  it('longer than the limit fails the subscription', async () => {
    const recorder = await open(root, {
      limits: { gapBlocksMax: 20, gapTimeoutMs: 600_000 },
      answer: (method, params) => (method === 'getBlocks' ? range(params, 10_000) : undefined),
    });
    await cut('rootSubscribe', 100);
    await recorder.until(({ failures, raw }) => failures.length + raw.length > 0, 'the failure, at once');
    expect([recorder.raw, scene.requests]).toEqual([[], []]);
    expect(recorder.failures).toMatchObject([{ code: 'UPSTREAM_UNAVAILABLE', facts: { network: 'devnet' } }]);
    const given = scene.logged.find((line) => line.includes('Subscription failed'));
    expect(given).toContain('GapTooLong');
  });

  it('with too many buffered notifications fails the subscription', async () => {
    const recorder = await open(root, {
      limits: { heldMax: 10 },
      answer: (method) => (method === 'getBlocks' ? [] : undefined),
    });
    await cut('rootSubscribe', 1);
    for (let slot = 970; slot < 990; slot++) notify('root', slot);
    await recorder.until(({ failures }) => failures.length > 0, 'the failure');
    expect(recorder.raw).toEqual([]);
    await until(() => scene.mocks[0]!.count('rootUnsubscribe') === 1, 'it is given back');
  });

  it('without any reachable node fails the subscription', async () => {
    const recorder = await open(root, { limits: { gapTimeoutMs: 300 } });
    await scene.mocks[0]!.close();
    await recorder.until(({ failures }) => failures.length > 0, 'the failure');
    expect(recorder.failures[0]?.code).toBe('UPSTREAM_UNAVAILABLE');
  });

  it('that no node can fill before the timeout fails the subscription and frees its semaphore slot', async () => {
    // Nobody has come as far as the gap of roots ends; that of slots is told.
    const recorder = await open(root, {
      limits: { gapTimeoutMs: 500, gapFillsMax: 1 },
      answer: (method, params) =>
        method === 'getBlocks'
          ? range(params, JSON.stringify(params).includes('final') ? 900 : 10_000)
          : undefined,
    });
    await cut('rootSubscribe');
    await recorder.until(({ failures }) => failures.length > 0, 'the failure', 5_000);
    const slots = new Recorder();
    await scene.feed.open(subscriptionOf('slot'), slots);
    await cut('slotSubscribe', 3);
    await slots.until(({ raw }) => raw.some((one) => one.includes('1009')), 'slots again', 5_000);
  });

  it('without changes emits nothing, regardless of member order', async () => {
    const { value } = state(1_006, 5);
    const sorted = Object.fromEntries(Object.entries(value).sort());
    const recorder = await open(account, {
      answer: (method) =>
        method === 'getMultipleAccounts'
          ? { context: { slot: 1_006, apiVersion: '4.0.0' }, value: [sorted] }
          : undefined,
    });
    notify('account', state(1_000, 5));
    await recorder.until(({ raw }) => raw.length === 1, 'the first state');
    await cut('accountSubscribe');
    await until(
      () => scene.requests.some(({ method }) => method === 'getMultipleAccounts'),
      'it is read again',
    );
    // What the read state holds already, and then what is newer.
    notify('account', state(1_007, 6));
    await recorder.until(({ raw }) => raw.length === 2, 'the next state');
    expect(recorder.results.map(({ context }) => context.slot)).toEqual([1_000, 1_007]);
  });

  it('emits the current state of an account in PubSub format, and nothing older afterwards', async () => {
    const recorder = await open(account, {
      answer: (method) =>
        method === 'getMultipleAccounts'
          ? { context: { slot: 1_006, apiVersion: '4.0.0' }, value: [state(1_006, 7).value] }
          : undefined,
    });
    notify('account', state(1_000, 5));
    await recorder.until(({ raw }) => raw.length === 1, 'the first state');
    await cut('accountSubscribe');
    await recorder.until(({ raw }) => raw.length === 2, 'the missed state');
    notify('account', state(1_003, 6));
    notify('account', state(1_006, 7));
    notify('account', state(1_007, 8));
    await recorder.until(({ raw }) => raw.length === 3, 'the next state');
    expect(recorder.results).toEqual([state(1_000, 5), state(1_006, 7), state(1_007, 8)]);
    const read = scene.requests.find(({ method }) => method === 'getMultipleAccounts');
    expect(JSON.parse(read?.params?.toString() ?? '')[1]).toMatchObject({
      commitment: 'confirmed',
      minContextSlot: 1_006,
    });
  });

  it('of a closed account emits the empty account', async () => {
    const recorder = await open(account, {
      answer: (method) =>
        method === 'getMultipleAccounts' ? { context: { slot: 1_004 }, value: [null] } : undefined,
    });
    notify('account', state(1_000, 5));
    await recorder.until(({ raw }) => raw.length === 1, 'the first state');
    await cut('accountSubscribe');
    await recorder.until(({ raw }) => raw.length === 2, 'the missed state');
    expect(recorder.results[1].value).toEqual({
      lamports: 0,
      data: ['', 'base64'],
      owner: '11111111111111111111111111111111',
      executable: false,
      rentEpoch: 0,
      space: 0,
    });
  });

  it('of votes is not filled', async () => {
    const recorder = await open(subscriptionOf('vote'), {});
    notify('vote', 1);
    await recorder.until(({ raw }) => raw.length === 1, 'the first vote');
    await cut('voteSubscribe');
    notify('vote', 3);
    await recorder.until(({ raw }) => raw.length === 2, 'votes again');
    expect(recorder.raw).toEqual(['1', '3']);
    expect(scene.requests).toEqual([]);
  });
});
