import { afterEach, describe, expect, it } from 'vitest';
import type { SubscriptionKind } from '../../../src/protocol/subscriptions.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import type { PubsubMock } from './mock/pubsub-server.ts';
import { type Scene, type SceneOptions, stage, subscriptionOf, until } from './stage.ts';

const KEY = 'Vote111111111111111111111111111111111111111';
const asBytes = { commitment: 'confirmed', encoding: 'base64' };
const subscriptions = {
  slot: subscriptionOf('slot'),
  root: subscriptionOf('root'),
  account: subscriptionOf('account', KEY, asBytes),
  program: subscriptionOf('program', KEY, asBytes),
} as const;
type Kind = keyof typeof subscriptions;

const account = `{"lamports":1,"data":["","base64"],"owner":"${KEY}","executable":false,"rentEpoch":0,"space":0}`;
const messageAt: Readonly<Record<Kind, (slot: bigint) => string>> = {
  slot: (slot) => `{"slot":${slot},"parent":${slot - 1n},"root":${slot - 32n}}`,
  root: (slot) => `${slot}`,
  account: (slot) => `{"context":{"slot":${slot}},"value":${account}}`,
  program: (slot) => `{"context":{"slot":${slot}},"value":{"pubkey":"${KEY}","account":${account}}}`,
};

const range = ([from, to]: readonly unknown[], tip: number): number[] => {
  const last = Math.min(Number(to), tip + 64);
  return Array.from({ length: Math.max(0, last - Number(from) + 1) }, (_, i) => Number(from) + i);
};

const answer: NonNullable<SceneOptions['answer']> = (method, params) => {
  if (method === 'getBlocks') return range(params, 1_000);
  if (method === 'getMultipleAccounts') {
    return { context: { slot: 1_002 }, value: [JSON.parse(account)] };
  }
  if (method !== 'getBlock') return undefined;
  const slot = Number(params[0]);
  const hashes = { blockhash: KEY, previousBlockhash: KEY, parentSlot: slot - 1, blockHeight: slot };
  return { ...hashes, blockTime: 1, transactions: [], rewards: [] };
};

const ABSURD = 2n ** 63n;
let scene: Scene;
let ticking: NodeJS.Timeout | undefined;
afterEach(async () => {
  clearInterval(ticking);
  await scene.close();
});

function notify(mock: PubsubMock, kind: SubscriptionKind, raw: string): void {
  for (const peer of mock.peers) {
    const id = peer.ids.get(`${kind}Subscribe`);
    if (id === undefined) continue;
    const params = `{"result":${raw},"subscription":${id}}`;
    peer.send(`{"jsonrpc":"2.0","method":"${kind}Notification","params":${params}}`);
  }
}

const slotIn = (text: string): bigint => BigInt(/\d+/.exec(text)?.[0] ?? '');

describe('a node that reports an implausible slot', () => {
  it.each(Object.keys(subscriptions) as Kind[])(
    'is left without affecting the subscriber: %s',
    async (kind) => {
      scene = await stage([healthy], { answer });
      const recorder = new Recorder();
      await scene.feed.open(subscriptions[kind], recorder);
      const [mock] = scene.mocks;
      notify(mock!, kind, messageAt[kind](1_001n));
      await recorder.until(({ raw }) => raw.length === 1, 'what is told first');
      notify(mock!, kind, messageAt[kind](ABSURD));
      const opened = `${kind}Subscribe`;
      await until(() => mock!.count(opened) === 2, 'it is opened on another connection');
      ticking = setInterval(() => {
        mock!.tick();
        notify(mock!, kind, messageAt[kind](BigInt(mock!.slotInfo().slot)));
      }, 20);
      await recorder.until(({ raw }) => raw.length > 3, 'what comes next');
      expect(recorder.raw.filter((raw) => slotIn(raw) > 100_000n)).toEqual([]);
      expect(recorder.failures).toEqual([]);
      expect(scene.logged.join()).toContain('implausible slot');
    },
  );

  it('is left for an implausible root in a plausible slot', async () => {
    scene = await stage([healthy], { answer });
    await scene.feed.open(subscriptions.slot, new Recorder());
    const [mock] = scene.mocks;
    notify(mock!, 'slot', `{"slot":1001,"parent":1000,"root":${ABSURD}}`);
    await until(() => mock!.count('slotSubscribe') >= 2, 'it is opened on another connection');
  });

  it('does not affect block subscriptions', async () => {
    scene = await stage([healthy], { answer });
    const recorder = new Recorder();
    const blocks = { commitment: 'confirmed', transactionDetails: 'none' };
    await scene.feed.open(subscriptionOf('block', 'all', blocks), recorder);
    const [mock] = scene.mocks;
    mock!.tick();
    await recorder.until(({ raw }) => raw.length > 0, 'the first block');
    const before = recorder.raw.length;
    notify(mock!, 'slot', messageAt.slot(ABSURD));
    await until(() => mock!.count('slotSubscribe') >= 2, 'slots are asked for again');
    ticking = setInterval(() => mock!.tick(), 20);
    await recorder.until(({ raw }) => raw.length > before, 'the next block');
    expect(recorder.failures).toEqual([]);
  });
});
