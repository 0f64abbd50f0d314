import { afterEach, describe, expect, it } from 'vitest';
import { KEY, slotRange, accountState as state } from './chain-json.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import { type Scene, type SceneOptions, stage, subscriptionOf, until } from './stage.ts';

const account = subscriptionOf('account', KEY, { commitment: 'confirmed', encoding: 'base64' });

let scene: Scene;
afterEach(() => scene.close());

async function open(
  subscription: Parameters<Scene['feed']['open']>[0],
  options: SceneOptions,
): Promise<Recorder> {
  scene = await stage([healthy], options);
  const recorder = new Recorder();
  await scene.feed.open(subscription, recorder);
  return recorder;
}

/** Drops the connection for some slots, then waits until the subscription is active again and sends the next slot. */
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
const only =
  (method: string, answer: (params: readonly unknown[]) => unknown): NonNullable<SceneOptions['answer']> =>
  (called, params) =>
    called === method ? answer(params) : undefined;

describe('a gap', () => {
  it('is filled before buffered live notifications are emitted', async () => {
    let isOpen = false;
    const recorder = await open(root, {
      answer: only('getBlocks', (params) => slotRange(params, isOpen ? 10_000 : 0)),
    });
    notify('root', 968);
    await cut('rootSubscribe', 1);
    notify('root', 971);
    await until(() => scene.requests.some(({ method }) => method === 'getBlocks'), 'the gap is read');
    expect(recorder.raw).toEqual(['968']);
    isOpen = true;
    await recorder.until(({ raw }) => raw.length === 4, 'all of it');
    expect(recorder.raw).toEqual(['968', '969', '970', '971']);
  });

  it('longer than the limit fails the subscription', async () => {
    const recorder = await open(root, {
      limits: { gapBlocksMax: 20, gapTimeoutMs: 600_000 },
      answer: only('getBlocks', (params) => slotRange(params)),
    });
    await cut('rootSubscribe', 100);
    await recorder.until(({ failures, raw }) => failures.length + raw.length > 0, 'the failure, at once');
    expect([recorder.raw, scene.requests]).toEqual([[], []]);
    expect(recorder.failures).toMatchObject([{ code: 'UPSTREAM_UNAVAILABLE', facts: { network: 'devnet' } }]);
    const given = scene.logged.find((line) => line.includes('Subscription failed'));
    expect(given).toContain('GapTooLong');
  });

  it('that no node can fill before the timeout fails the subscription and releases its permit', async () => {
    // No node has reached the end of the root gap; the slot gap can be filled.
    const recorder = await open(root, {
      limits: { gapTimeoutMs: 500, gapFillsMax: 1 },
      answer: only('getBlocks', (params) =>
        slotRange(params, JSON.stringify(params).includes('final') ? 900 : 10_000),
      ),
    });
    await cut('rootSubscribe');
    await recorder.until(({ failures }) => failures.length > 0, 'the failure', 5_000);
    const slots = new Recorder();
    await scene.feed.open(subscriptionOf('slot'), slots);
    await cut('slotSubscribe', 3);
    await slots.until(({ raw }) => raw.some((one) => one.includes('1009')), 'slots again', 5_000);
  });

  it('is filled with the current account state in PubSub format; older states are dropped', async () => {
    const recorder = await open(account, {
      answer: only('getMultipleAccounts', () => ({
        context: { slot: 1_006, apiVersion: '4.0.0' },
        value: [state(1_006, 7).value],
      })),
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
});
