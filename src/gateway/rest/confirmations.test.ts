import { afterEach, describe, expect, it } from 'vitest';
import {
  blockhash,
  FakeFeed,
  FakeNodes,
  landed,
  sent,
  signatureOf,
} from '../../../test/gateway/confirmation-fixtures.ts';
import { Failure } from '../../protocol/errors.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { type ConfirmationParts, Confirmations } from './confirmations.ts';

let confirmations: Confirmations;
afterEach(() => confirmations.close());

const limits = { pollMs: 5, subscribedPollMs: 5, expiryPollMs: 5, waitMaxMs: 10_000 };
function open(nodes: FakeNodes, parts: Partial<ConfirmationParts> = {}): Confirmations {
  const all = { feed: null, feedNetwork: 'mainnet-beta', source: nodes, ...parts } as const;
  confirmations = new Confirmations({ ...all, limits: { ...limits, ...parts.limits } });
  return confirmations;
}

const staying = new AbortController().signal;

describe('waiting for transactions', () => {
  it('asks for 256 in a call, and for the same one once, whoever waits', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    const waits = Array.from({ length: 600 }, (_, at) => confirmations.wait(sent(at % 300), staying));
    await nodes.more(3);
    const batches = nodes.requests.filter(({ method }) => method === 'getSignatureStatuses').slice(0, 2);
    const requests = batches.map(({ params }) => params[0] as string[]);
    expect(requests.map(({ length }) => length)).toEqual([256, 44]);
    expect(new Set(requests.flat()).size).toBe(300);
    nodes.status = () => landed('confirmed');
    const told = await Promise.all(waits);
    expect(told).toEqual(Array(600).fill({ status: 'confirmed', err: null, failure: null }));
    expect(confirmations.size).toBe(0);
  });

  it('asks once for one that is to come to different commitments', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('finalized');
    open(nodes);
    const levels = ['processed', 'confirmed', 'finalized'] as const;
    await Promise.all(levels.map((commitment) => confirmations.wait(sent(1, { commitment }), staying)));
    const requests = nodes.requests.filter(({ method }) => method === 'getSignatureStatuses');
    expect(requests.map(({ params }) => params)).toEqual([[[signatureOf(1)]]]);
  });

  it('asks each network for its own', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('finalized');
    open(nodes);
    const networks = ['mainnet-beta', 'devnet', 'testnet'] as const;
    const never = { blockhash: null, lastValidBlockHeight: null };
    await Promise.all(networks.map((network) => confirmations.wait(sent(1, { network, ...never }), staying)));
    expect(nodes.requests.map(({ network }) => network).sort()).toEqual([...networks].sort());
  });

  it('asks nobody any more once nobody waits', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('confirmed');
    open(nodes);
    await confirmations.wait(sent(1), staying);
    const requests = nodes.of('mainnet-beta');
    await nodes.rounds(4, confirmations);
    expect(nodes.of('mainnet-beta')).toBe(requests);
  });

  it('goes on until the commitment is there, and tells an error only then', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('processed', 'AccountInUse');
    open(nodes);
    const wait = confirmations.wait(sent(1, { commitment: 'finalized' }), staying);
    await nodes.more(4);
    nodes.status = () => landed('confirmed', 'AccountInUse');
    await nodes.more(4);
    nodes.status = () => landed('finalized', 'AccountInUse');
    expect(await wait).toEqual({ status: 'finalized', err: 'AccountInUse', failure: null });
  });

  it('goes on while nodes are away or talk nonsense', async () => {
    const nodes = new FakeNodes();
    nodes.isUnavailable = true;
    open(nodes);
    const wait = confirmations.wait(sent(1), staying);
    await nodes.more(3);
    nodes.isUnavailable = false;
    nodes.status = () => 7;
    await nodes.more(3);
    nodes.status = () => landed('confirmed');
    expect(await wait).toMatchObject({ status: 'confirmed' });
  });

  it('tells what it has come to when its time is over', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('processed');
    open(nodes, { limits: { waitMaxMs: 60 } });
    expect(await confirmations.wait(sent(1), staying)).toMatchObject({
      ...{ status: 'processed', err: null },
      failure: { code: 'TRANSACTION_UNCONFIRMED' },
    });
    expect(confirmations.size).toBe(0);
  });

  it('waits for no more at a time than it may', async () => {
    const nodes = new FakeNodes();
    open(nodes, { limits: { waitersMax: 2 } });
    const waits = [1, 2].map((n) => confirmations.wait(sent(n), staying));
    expect(await confirmations.wait(sent(3), staying)).toMatchObject({
      status: null,
      failure: { code: 'OVERLOADED' },
    });
    nodes.status = () => landed('confirmed');
    await Promise.all(waits);
    expect(await confirmations.wait(sent(3), staying)).toMatchObject({ status: 'confirmed' });
  });

  it('ends with whoever leaves, and for nobody else', async () => {
    const [nodes, feed, leaving] = [new FakeNodes(), new FakeFeed(), new AbortController()];
    open(nodes, { feed });
    const stays = confirmations.wait(sent(1), staying);
    const leaves = confirmations.wait(sent(1), leaving.signal);
    const alone = confirmations.wait(sent(2), leaving.signal);
    await nodes.more(1);
    const reason = new Failure('UPSTREAM_TIMEOUT');
    leaving.abort(reason);
    await expect(leaves).rejects.toBe(reason);
    await expect(alone).rejects.toBe(reason);
    expect(confirmations.size).toBe(1);
    expect(feed.ended).toBe(1);
    nodes.status = () => landed('confirmed');
    expect(await stays).toMatchObject({ status: 'confirmed' });
    expect(feed.ended).toBe(2);
  });

  it('takes any other reason to leave for CLIENT_GONE', async () => {
    open(new FakeNodes());
    const wait = confirmations.wait(sent(1), AbortSignal.abort());
    await expect(wait).rejects.toMatchObject({ code: 'CLIENT_GONE' });
    expect(confirmations.size).toBe(0);
  });

  it('ends for all when the service does', async () => {
    open(new FakeNodes());
    const wait = confirmations.wait(sent(1), staying);
    confirmations.close();
    expect(await wait).toMatchObject({ status: null, failure: { code: 'DRAINING' } });
  });

  it('ends a wait at once that begins when all has ended', async () => {
    const nodes = new FakeNodes();
    open(nodes).close();
    expect(await confirmations.wait(sent(1), staying)).toMatchObject({
      ...{ status: null, err: null, failure: { code: 'DRAINING' } },
    });
    expect([confirmations.size, nodes.requests]).toEqual([0, []]);
  });
});

describe('a blockhash', () => {
  const old = { lastValidBlockHeight: 800n };
  const expired = { status: null, err: null, failure: { code: 'TRANSACTION_EXPIRED' } };

  it('ends the wait once it is no longer valid and nobody knows the transaction', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    expect(await confirmations.wait(sent(1, old), staying)).toMatchObject(expired);
    const valid = nodes.requests.find(({ method }) => method === 'isBlockhashValid');
    expect(valid?.params).toEqual([blockhash, { commitment: 'confirmed', minContextSlot: 1_000 }]);
  });

  it('counts for all who wait, also when only the last of them knows its height', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    const first = confirmations.wait(sent(1, { lastValidBlockHeight: null }), staying);
    expect(await confirmations.wait(sent(1, old), staying)).toMatchObject(expired);
    expect(await first).toMatchObject(expired);
  });

  it('is asked for once for all that stand on it', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    await Promise.all([1, 2, 3].map((n) => confirmations.wait(sent(n, old), staying)));
    expect([nodes.count('getEpochInfo'), nodes.count('isBlockhashValid')]).toEqual([1, 1]);
  });

  it('is not asked for before its height has come', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    const wait = confirmations.wait(sent(1, { lastValidBlockHeight: 900n }), staying);
    await nodes.more(8);
    expect(nodes.count('isBlockhashValid')).toBe(0);
    nodes.tip = { absoluteSlot: 1_000, blockHeight: 901 };
    expect(await wait).toMatchObject(expired);
  });

  it('that is still valid beyond a height that a node behind told ends nothing', async () => {
    const nodes = new FakeNodes();
    nodes.isValid = true;
    open(nodes);
    const wait = confirmations.wait(sent(1, old), staying);
    await nodes.more(12);
    expect(confirmations.size).toBe(1);
    nodes.isValid = false;
    expect(await wait).toMatchObject(expired);
  });

  it('ends nothing by the word of a node that has not come to the height', async () => {
    const nodes = new FakeNodes();
    nodes.slot = 999;
    open(nodes);
    const wait = confirmations.wait(sent(1, old), staying);
    await nodes.more(12);
    expect(confirmations.size).toBe(1);
    nodes.slot = 1_000;
    expect(await wait).toMatchObject(expired);
  });

  it('ends nothing for a transaction that has landed', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('processed');
    open(nodes);
    const wait = confirmations.wait(sent(1, old), staying);
    await nodes.more(12);
    expect(confirmations.size).toBe(1);
    nodes.status = () => landed('confirmed');
    expect(await wait).toMatchObject({ status: 'confirmed', failure: null });
  });
});

describe('a subscription', () => {
  const quiet = { pollMs: 60_000 };

  it('is opened once for all who wait for the same, and tells them', async () => {
    const feed = new FakeFeed();
    open(new FakeNodes(), { feed, limits: quiet });
    const waits = [1, 1, 1].map((n) => confirmations.wait(sent(n), staying));
    const [listener] = feed.listeners;
    listener?.onNotification(
      Buffer.from('{"context":{"slot":5},"value":{"err":{"InstructionError":[0,"Custom"]}}}'),
      true,
    );
    const told = { status: 'confirmed', err: { InstructionError: [0, 'Custom'] }, failure: null };
    expect(await Promise.all(waits)).toEqual([told, told, told]);
    expect(feed.listeners).toHaveLength(1);
  });

  it('is opened for the network of the feed only', async () => {
    const feed = new FakeFeed();
    const nodes = new FakeNodes();
    nodes.status = () => landed('confirmed');
    open(nodes, { feed });
    await confirmations.wait(sent(1, { network: 'devnet' }), staying);
    expect(feed.listeners).toEqual([]);
  });

  it.each(['no JSON', '{}', '{"value":"receivedSignature"}', '{"value":{}}', '[]'])(
    'that tells %s tells nothing',
    async (text) => {
      const [feed, nodes] = [new FakeFeed(), new FakeNodes()];
      open(nodes, { feed });
      const wait = confirmations.wait(sent(1), staying);
      feed.listeners[0]?.onNotification(Buffer.from(text), false);
      await nodes.more(2);
      nodes.status = () => landed('finalized');
      expect(await wait).toMatchObject({ status: 'finalized' });
    },
  );

  it('spares the nodes, which are asked at once all the same when it begins, and as before when it fails', async () => {
    const [feed, nodes] = [new FakeFeed(), new FakeNodes()];
    open(nodes, { feed, limits: { subscribedPollMs: 60_000 } });
    const wait = confirmations.wait(sent(1), staying);
    await nodes.more(1);
    await nodes.rounds(4, confirmations);
    expect(nodes.of('mainnet-beta')).toBe(2);
    feed.listeners[0]?.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    nodes.status = () => landed('confirmed');
    expect(await wait).toMatchObject({ status: 'confirmed' });
  });

  it.each([new Failure('OVERLOADED'), new RpcError(-32603, 'no')])(
    'is done without when refused',
    async (refusal) => {
      const nodes = new FakeNodes();
      open(nodes, { feed: { open: () => Promise.reject(refusal) } });
      const wait = confirmations.wait(sent(1), staying);
      await nodes.more(2);
      nodes.status = () => landed('confirmed');
      expect(await wait).toMatchObject({ status: 'confirmed' });
    },
  );

  it('that opens after nobody waits any more is ended', async () => {
    const [opened, leaving] = [Promise.withResolvers<() => void>(), new AbortController()];
    open(new FakeNodes(), { feed: { open: () => opened.promise } });
    const wait = confirmations.wait(sent(1), leaving.signal);
    leaving.abort();
    await expect(wait).rejects.toMatchObject({ code: 'CLIENT_GONE' });
    const ended = Promise.withResolvers<void>();
    opened.resolve(ended.resolve);
    await ended.promise;
  });
});
