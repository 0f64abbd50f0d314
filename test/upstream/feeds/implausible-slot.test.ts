import { afterEach, describe, expect, it } from 'vitest';
import type { SubscriptionKind } from '../../../src/protocol/subscriptions.ts';
import { accountJson, emptyBlock, KEY, slotRange } from './chain-json.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import type { PubsubMock } from './mock/pubsub-server.ts';
import { type Scene, type SceneOptions, stage, subscriptionOf, until } from './stage.ts';

const asBytes = { commitment: 'confirmed', encoding: 'base64' };
const subscriptions = {
  slot: subscriptionOf('slot'),
  root: subscriptionOf('root'),
  account: subscriptionOf('account', KEY, asBytes),
  program: subscriptionOf('program', KEY, asBytes),
} as const;
type Kind = keyof typeof subscriptions;

const account = JSON.stringify(accountJson(1));
const messageAt: Readonly<Record<Kind, (slot: bigint) => string>> = {
  slot: (slot) => `{"slot":${slot},"parent":${slot - 1n},"root":${slot - 32n}}`,
  root: (slot) => `${slot}`,
  account: (slot) => `{"context":{"slot":${slot}},"value":${account}}`,
  program: (slot) => `{"context":{"slot":${slot}},"value":{"pubkey":"${KEY}","account":${account}}}`,
};

const answer: NonNullable<SceneOptions['answer']> = (method, params) => {
  if (method === 'getBlocks') return slotRange(params, 1_064);
  if (method === 'getMultipleAccounts') return { context: { slot: 1_002 }, value: [accountJson(1)] };
  return method === 'getBlock' ? emptyBlock(Number(params[0])) : undefined;
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
      await recorder.until(({ raw }) => raw.length === 1, 'the first notification');
      notify(mock!, kind, messageAt[kind](ABSURD));
      const opened = `${kind}Subscribe`;
      await until(() => mock!.count(opened) === 2, 'it is opened on another connection');
      ticking = setInterval(() => {
        mock!.tick();
        notify(mock!, kind, messageAt[kind](BigInt(mock!.slotInfo().slot)));
      }, 20);
      await recorder.until(({ raw }) => raw.length > 3, 'further notifications');
      expect(recorder.raw.filter((raw) => slotIn(raw) > 100_000n)).toEqual([]);
      expect(recorder.failures).toEqual([]);
      expect(scene.logged.join()).toContain('implausible slot');
    },
  );
});
