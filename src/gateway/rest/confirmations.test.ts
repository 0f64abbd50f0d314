import { afterEach, describe, expect, it } from 'vitest';
import { dispatcherOf } from '../../../test/upstream/mock/dispatcher.ts';
import { parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Call, RpcDispatcher } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { encodeBase58 } from '../../solana/base58.ts';
import { blockhashFromBytes } from '../../solana/blockhash.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Feed, FeedListener } from '../../streams/feed.ts';
import { type ConfirmationParts, Confirmations, type SentTransaction } from './confirmations.ts';

type Request = Readonly<{ network: string; method: string; params: unknown[] }>;

class FakeNodes implements RpcDispatcher {
  readonly requests: Request[] = [];
  status: (signature: string) => WritableJson = () => null;
  slot = 1_000;
  tip = { absoluteSlot: 1_000, blockHeight: 900 };
  isValid = false;
  isUnavailable = false;
  #rounds = 0;
  #wake: (() => void) | null = null;

  readonly dispatch = dispatcherOf((call) => this.#respond(call)).dispatch;

  async #respond({ network, method, params }: Call) {
    const list = parseJson(String(params)) as unknown[];
    this.requests.push({ network, method, params: list });
    this.#rounds++;
    this.#wake?.();
    if (this.isUnavailable) throw new Failure('UPSTREAM_UNAVAILABLE');
    return { body: Buffer.from(writeJson(this.#answer(method, list))), errorCode: 0 };
  }

  #answer(method: string, [first]: unknown[]): WritableJson {
    const context = { slot: this.slot };
    if (method === 'getEpochInfo') return this.tip;
    if (method === 'isBlockhashValid') return { context, value: this.isValid };
    return { context, value: (first as string[]).map((one) => this.status(one)) };
  }

  count(method: string): number {
    return this.requests.filter((one) => one.method === method).length;
  }

  async more(calls: number): Promise<void> {
    const target = this.#rounds + calls;
    while (this.#rounds < target) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

class FakeFeed implements Feed {
  readonly listeners: FeedListener[] = [];
  ended = 0;

  async open(_: unknown, listener: FeedListener): Promise<() => void> {
    this.listeners.push(listener);
    return () => {
      this.ended++;
    };
  }
}

const signatureOf = (n: number): Signature => {
  const bytes = new Uint8Array(64);
  new DataView(bytes.buffer).setUint32(0, n + 1);
  return encodeBase58(bytes) as Signature;
};

const blockhash = blockhashFromBytes(new Uint8Array(32).fill(7));
const landed = (confirmationStatus: Commitment, err: WritableJson = null): WritableJson => ({
  ...{ confirmationStatus, err, slot: 5, confirmations: 1 },
});

const sent = (n: number, more: Partial<SentTransaction> = {}): SentTransaction => ({
  network: 'mainnet-beta',
  signature: signatureOf(n),
  commitment: 'confirmed',
  blockhash,
  lastValidBlockHeight: 1_000n,
  ...more,
});

let confirmations: Confirmations;
afterEach(() => confirmations.close());

const limits = { pollMs: 5, subscribedPollMs: 5, expiryPollMs: 5, waitMaxMs: 10_000 };
function open(nodes: FakeNodes, parts: Partial<ConfirmationParts> = {}): Confirmations {
  const all = { feed: null, feedNetwork: 'mainnet-beta', source: nodes, ...parts } as const;
  confirmations = new Confirmations({ ...all, limits: { ...limits, ...parts.limits } });
  return confirmations;
}

const signal = new AbortController().signal;

describe('waiting for transactions', () => {
  it('requests 256 signatures per call, and each one once for all waiters', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    const waits = Array.from({ length: 600 }, (_, at) => confirmations.wait(sent(at % 300), signal));
    await nodes.more(3);
    const batches = nodes.requests.filter(({ method }) => method === 'getSignatureStatuses').slice(0, 2);
    const requests = batches.map(({ params }) => params[0] as string[]);
    expect(requests.map(({ length }) => length)).toEqual([256, 44]);
    expect(new Set(requests.flat()).size).toBe(300);
    nodes.status = () => landed('confirmed');
    const results = await Promise.all(waits);
    expect(results).toEqual(Array(600).fill({ status: 'confirmed', err: null, failure: null }));
    expect(confirmations.size).toBe(0);
  });

  it('requests each signature from its own network', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('finalized');
    open(nodes);
    const networks = ['mainnet-beta', 'devnet', 'testnet'] as const;
    const never = { blockhash: null, lastValidBlockHeight: null };
    await Promise.all(networks.map((network) => confirmations.wait(sent(1, { network, ...never }), signal)));
    expect(nodes.requests.map(({ network }) => network).sort()).toEqual([...networks].sort());
  });

  it('polls until the commitment is reached, and reports an error only then', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('processed', 'AccountInUse');
    open(nodes);
    const wait = confirmations.wait(sent(1, { commitment: 'finalized' }), signal);
    await nodes.more(4);
    nodes.status = () => landed('confirmed', 'AccountInUse');
    await nodes.more(4);
    nodes.status = () => landed('finalized', 'AccountInUse');
    expect(await wait).toEqual({ status: 'finalized', err: 'AccountInUse', failure: null });
  });

  it('continues while nodes are unavailable or send invalid responses', async () => {
    const nodes = new FakeNodes();
    nodes.isUnavailable = true;
    open(nodes);
    const wait = confirmations.wait(sent(1), signal);
    await nodes.more(3);
    nodes.isUnavailable = false;
    nodes.status = () => 7;
    await nodes.more(3);
    nodes.status = () => landed('confirmed');
    expect(await wait).toMatchObject({ status: 'confirmed' });
  });

  it('reports the last status on timeout', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('processed');
    open(nodes, { limits: { waitMaxMs: 60 } });
    expect(await confirmations.wait(sent(1), signal)).toMatchObject({
      ...{ status: 'processed', err: null },
      failure: { code: 'TRANSACTION_UNCONFIRMED' },
    });
    expect(confirmations.size).toBe(0);
  });

  it('limits concurrent waiters', async () => {
    const nodes = new FakeNodes();
    open(nodes, { limits: { waitersMax: 2 } });
    const waits = [1, 2].map((n) => confirmations.wait(sent(n), signal));
    expect(await confirmations.wait(sent(3), signal)).toMatchObject({
      status: null,
      failure: { code: 'OVERLOADED' },
    });
    nodes.status = () => landed('confirmed');
    await Promise.all(waits);
    expect(await confirmations.wait(sent(3), signal)).toMatchObject({ status: 'confirmed' });
  });

  it('ends only for the waiter that cancels', async () => {
    const [nodes, feed, leaving] = [new FakeNodes(), new FakeFeed(), new AbortController()];
    open(nodes, { feed });
    const stays = confirmations.wait(sent(1), signal);
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

  it('ends for current and later waiters when the service closes', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    const wait = confirmations.wait(sent(1), signal);
    confirmations.close();
    const ended = { status: null, err: null, failure: { code: 'DRAINING' } };
    expect(await wait).toMatchObject(ended);
    expect(await confirmations.wait(sent(2), signal)).toMatchObject(ended);
    expect(confirmations.size).toBe(0);
  });
});

describe('a blockhash', () => {
  const old = { lastValidBlockHeight: 800n };
  const expired = { status: null, err: null, failure: { code: 'TRANSACTION_EXPIRED' } };

  it('ends the wait when it has expired and no node knows the transaction', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    expect(await confirmations.wait(sent(1, old), signal)).toMatchObject(expired);
    const valid = nodes.requests.find(({ method }) => method === 'isBlockhashValid');
    expect(valid?.params).toEqual([blockhash, { commitment: 'confirmed', minContextSlot: 1_000 }]);
  });

  it('is not checked up to its last valid height', async () => {
    const nodes = new FakeNodes();
    open(nodes);
    const wait = confirmations.wait(sent(1, { lastValidBlockHeight: 900n }), signal);
    await nodes.more(8);
    expect(nodes.count('isBlockhashValid')).toBe(0);
    nodes.tip = { absoluteSlot: 1_000, blockHeight: 901 };
    expect(await wait).toMatchObject(expired);
  });

  it('does not expire while a node reports it as valid, even beyond its last valid height', async () => {
    const nodes = new FakeNodes();
    nodes.isValid = true;
    open(nodes);
    const wait = confirmations.wait(sent(1, old), signal);
    await nodes.more(12);
    expect(confirmations.size).toBe(1);
    nodes.isValid = false;
    expect(await wait).toMatchObject(expired);
  });

  it('does not expire because of a node at an older slot', async () => {
    const nodes = new FakeNodes();
    nodes.slot = 999;
    open(nodes);
    const wait = confirmations.wait(sent(1, old), signal);
    await nodes.more(12);
    expect(confirmations.size).toBe(1);
    nodes.slot = 1_000;
    expect(await wait).toMatchObject(expired);
  });

  it('does not end the wait for a transaction that has landed', async () => {
    const nodes = new FakeNodes();
    nodes.status = () => landed('processed');
    open(nodes);
    const wait = confirmations.wait(sent(1, old), signal);
    await nodes.more(12);
    expect(confirmations.size).toBe(1);
    nodes.status = () => landed('confirmed');
    expect(await wait).toMatchObject({ status: 'confirmed', failure: null });
  });
});

describe('a subscription', () => {
  const quiet = { pollMs: 60_000 };

  it('is opened once for all waiters of a signature, and notifies them', async () => {
    const feed = new FakeFeed();
    open(new FakeNodes(), { feed, limits: quiet });
    const waits = [1, 1, 1].map((n) => confirmations.wait(sent(n), signal));
    const [listener] = feed.listeners;
    listener?.onNotification(
      Buffer.from('{"context":{"slot":5},"value":{"err":{"InstructionError":[0,"Custom"]}}}'),
      true,
    );
    const results = { status: 'confirmed', err: { InstructionError: [0, 'Custom'] }, failure: null };
    expect(await Promise.all(waits)).toEqual([results, results, results]);
    expect(feed.listeners).toHaveLength(1);
  });

  it.each(['no JSON', '{"value":{}}'])('ignores the notification %s', async (text) => {
    const [feed, nodes] = [new FakeFeed(), new FakeNodes()];
    open(nodes, { feed });
    const wait = confirmations.wait(sent(1), signal);
    feed.listeners[0]?.onNotification(Buffer.from(text), false);
    await nodes.more(2);
    nodes.status = () => landed('finalized');
    expect(await wait).toMatchObject({ status: 'finalized' });
  });

  it('is replaced by polling when rejected', async () => {
    const nodes = new FakeNodes();
    open(nodes, { feed: { open: () => Promise.reject(new RpcError(-32603, 'no')) } });
    const wait = confirmations.wait(sent(1), signal);
    await nodes.more(2);
    nodes.status = () => landed('confirmed');
    expect(await wait).toMatchObject({ status: 'confirmed' });
  });

  it('is accompanied by a poll at its start and another when it fails', async () => {
    const [feed, nodes] = [new FakeFeed(), new FakeNodes()];
    open(nodes, { feed, limits: { subscribedPollMs: 60_000 } });
    const wait = confirmations.wait(sent(1), signal);
    await nodes.more(1);
    feed.listeners[0]?.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    nodes.status = () => landed('confirmed');
    expect(await wait).toMatchObject({ status: 'confirmed' });
  });

  it('that opens after its last waiter canceled is closed', async () => {
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
