import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';
import { addressFromBytes } from '../../../src/solana/address.ts';
import { accountState } from './chain-json.ts';
import { Recorder } from './listener.ts';
import type { Peer, PubsubRequest } from './mock/pubsub-server.ts';
import { type Scene, stage, subscriptionOf, until } from './stage.ts';

const NUMBER = 250;
const addresses = Array.from({ length: NUMBER }, (_, index) => {
  const bytes = new Uint8Array(32).fill(1);
  new DataView(bytes.buffer).setUint32(0, index);
  return addressFromBytes(bytes);
});

/** Each account has its own balance. */
const state = (address: string, slot: number) =>
  accountState(slot, 1_000 + addresses.indexOf(address as never));

let scene: Scene;
afterEach(() => scene.close());

/** A node with many account subscriptions, each with a first state that changes in the gap. */
async function open(answer: (requests: readonly string[]) => unknown) {
  const notify = (request: PubsubRequest, peer: Peer): void => {
    if (request.method.endsWith('Unsubscribe')) return;
    const subscription = peer.acknowledge(request);
    if (request.method !== 'accountSubscribe' || isCut) return;
    const result = { ...state(String(request.params[0]), 1_000) };
    const was = { ...result, value: { ...result.value, lamports: 1 } };
    peer.send({ jsonrpc: '2.0', method: 'accountNotification', params: { result: was, subscription } });
  };
  let isCut = false;
  scene = await stage([notify], {
    answer: (method, params) =>
      method === 'getMultipleAccounts' ? answer(params[0] as readonly string[]) : undefined,
    limits: { movesMax: NUMBER },
  });
  const recorders = addresses.map(() => new Recorder());
  await Promise.all(
    addresses.map((address, index) =>
      scene.feed.open(
        subscriptionOf('account', address, { commitment: 'confirmed', encoding: 'base64' }),
        recorders[index]!,
      ),
    ),
  );
  for (const one of recorders) await one.until(({ raw }) => raw.length === 1, 'the first state');
  const [mock] = scene.mocks;
  isCut = true;
  const before = mock!.count('accountSubscribe');
  mock!.cut();
  await until(() => mock!.count('accountSubscribe') === before + NUMBER, 'all move');
  for (const peer of mock!.peers) await peer.read();
  mock!.tick();
  for (const one of recorders) await one.until(({ raw }) => raw.length === 2, 'the missed state');
  return recorders.map(({ results }) => results[1].value.lamports);
}

const balances = addresses.map((_, index) => 1_000 + index);
const requests = (): number[] =>
  scene.requests
    .filter(({ method }) => method === 'getMultipleAccounts')
    .map(({ params }) => JSON.parse(params!.toString())[0].length);
const answered = (list: readonly string[]) => ({
  context: { slot: 1_006 },
  value: list.map((address) => state(address, 1_006).value),
});

describe('account subscriptions that move at once', () => {
  it('are read in smaller batches when a response is too large', async () => {
    const notify = await open((list) => {
      if (list.length > 30) throw new Failure('ANSWER_TOO_LARGE', { facts: { answerMaxBytes: 1 } });
      return answered(list);
    });
    expect(notify).toEqual(balances);
    expect(requests().filter((length) => length <= 30).length).toBeLessThan(20);
  });
});
