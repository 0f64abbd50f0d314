import { describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import type { SubmitLimits } from '../../src/upstream/submit/limits.ts';
import { accepting, freshChain, landed, type MockChain, sentTo } from './mock/accepting.ts';
import { dyingAfterRequest, failing, holding } from './mock/behaviors.ts';
import { call, failureOf, outcomeOf, until } from './mock/pool.ts';
import { type Behaviour, type MockNode, sendError } from './mock/server.ts';
import {
  SubmissionTrace,
  type SubmitScene,
  sendCall,
  sentIn,
  signedTransaction,
  submittersForEach,
} from './mock/submitting.ts';

const open = submittersForEach();
const skipPreflight = { skipPreflight: true };

const configsAt = (mocks: readonly MockNode[]): Record<string, unknown>[] =>
  mocks
    .flatMap(({ received }) => received.filter(({ method }) => method === 'sendTransaction'))
    .map((received) => sentTo(received).config);

describe('transaction with preflight', () => {
  it('is simulated by one node, then sent once to all others', async () => {
    const { submit, all } = await open([accepting(), accepting(), accepting()], [accepting()]);
    const { wire, signature } = signedTransaction();
    const trace = new SubmissionTrace();
    const config = { preflightCommitment: 'processed', minContextSlot: 5 };
    expect(await submit(wire, config, trace)).toBe(signature);
    await until(() => trace.attempts.length === 4);
    expect(all.map((mock) => mock.count('sendTransaction'))).toEqual([1, 1, 1, 1]);
    for (const { received } of all) expect(sentTo(received[0]!).wire).toEqual(wire);
    const configs = configsAt(all).toSorted(
      (a, b) => Number(a.skipPreflight ?? 0) - Number(b.skipPreflight ?? 0),
    );
    expect(configs).toEqual([
      { encoding: 'base64', ...config },
      ...Array(3).fill({ encoding: 'base64', skipPreflight: true, maxRetries: 0 }),
    ]);
    expect(trace.attempts.map(({ node, outcome }) => `${node} ${outcome}`).sort()).toEqual([
      ...['node-1 ok', 'node-2 ok', 'node-3 ok', 'sender-1 ok'],
    ]);
  });
});

describe('duplicate transaction', () => {
  it('shares the request in flight and its response', async () => {
    const held: (() => void)[] = [];
    const { submit, all } = await open([holding(held, accepting())]);
    const { wire, signature } = signedTransaction();
    const answers = [1, 2, 3].map(() => submit(wire));
    await until(() => held.length > 0);
    for (const release of held) release();
    expect(await Promise.all(answers)).toEqual([signature, signature, signature]);
    expect(sentIn(all)).toBe(1);
  });

  it('gets the same response for a while after acceptance, then is sent again', async () => {
    const { submit, all } = await open([accepting()], [], { limits: { acceptedMs: 40 } });
    const { wire, signature } = signedTransaction();
    const started = performance.now();
    expect([await submit(wire), await submit(wire)]).toEqual([signature, signature]);
    if (performance.now() - started < 40) expect(sentIn(all)).toBe(1);
    await until(() => performance.now() - started > 100);
    await submit(wire);
    expect(sentIn(all)).toBeGreaterThanOrEqual(2);
  });

  it('is rejected beyond the limits, and accepted again when others have ended', async () => {
    const held: (() => void)[] = [];
    const { submit, mocks } = await open([holding(held, accepting())], [], {
      limits: { inFlightMax: 1, callersMax: 2 },
    });
    const { wire, signature } = signedTransaction();
    const answers = [submit(wire), submit(wire)];
    await until(() => sentIn(mocks) === 1);
    expect(await submit(signedTransaction().wire)).toBe('OVERLOADED');
    expect(await submit(wire)).toBe('OVERLOADED');
    expect(sentIn(mocks)).toBe(1);
    mocks[0]!.become(accepting());
    for (const release of held) release();
    expect(await Promise.all(answers)).toEqual([signature, signature]);
    const next = signedTransaction();
    expect(await submit(next.wire)).toBe(next.signature);
  });
});

describe('submitter', () => {
  it('forwards an invalid transaction to one node, which reports the error', async () => {
    const { submitter, all } = await open([failing(-32602), failing(-32602)], [accepting()]);
    const invalid = call('sendTransaction', ['nonsense', { encoding: 'base64' }]);
    expect(await outcomeOf(submitter, invalid)).toBe('-32602');
    expect(sentIn(all)).toBe(1);
  });

  it('reports the attempts at all nodes with a rejection', async () => {
    const { submitter } = await open([failing(-32_003), failing(-32_003)]);
    const sent = sendCall(signedTransaction().wire, skipPreflight);
    const { attempts = [] } = await request(submitter, sent);
    expect(attempts.map(({ node, outcome }) => `${node} ${outcome}`).sort()).toEqual([
      'node-1 JSON-RPC error -32003',
      'node-2 JSON-RPC error -32003',
    ]);
  });

  it('reveals no URLs or headers of send-only endpoints', async () => {
    const revealing: Behaviour = ({ id, path }, reply) =>
      sendError(reply, id, -32000, `no access for SECRET-TOKEN at ${path}`);
    const { submitter, sendOnlyMocks, logged } = await open([dyingAfterRequest], [revealing], {
      upstream: { attemptsMax: 1 },
    });
    const trace = new SubmissionTrace();
    const failure = await failureOf(
      request(submitter, sendCall(signedTransaction().wire, skipPreflight, trace)),
    );
    const { headers, path } = sendOnlyMocks[0]!.received[0]!;
    expect([headers['x-token'], path]).toEqual(['SECRET-TOKEN', '/SECRET-PATH']);
    const results = JSON.stringify([failure.facts, failure.text, trace.attempts, logged]);
    expect(results).not.toContain('SECRET');
    expect(String((failure.cause as Error).cause ?? failure.cause)).not.toContain('SECRET');
  });
});

let scene: SubmitScene;
let chain: MockChain;

async function openAccepted(limits: Partial<SubmitLimits> = {}): Promise<void> {
  chain = freshChain();
  const node = accepting(chain);
  scene = await open([node, node], [node], { limits: { rebroadcastIntervalMs: 20, ...limits } });
}

type Sent = Readonly<{ wire: Buffer; signature: string; trace: SubmissionTrace }>;

async function sendOne(config: object = {}): Promise<Sent> {
  const [sent, trace] = [signedTransaction(), new SubmissionTrace()];
  expect(await scene.submit(sent.wire, config, trace)).toBe(sent.signature);
  return { ...sent, trace };
}

const timesSent = ({ wire }: Sent, mock: MockNode): number =>
  mock.received.filter((one) => one.method === 'sendTransaction' && sentTo(one).wire.equals(wire)).length;
const timesToAll = (sent: Sent): number => scene.all.reduce((sum, mock) => sum + timesSent(sent, mock), 0);
const isAtRest = (): boolean => scene.submitter.pending === 0;

describe('accepted transaction', () => {
  it('is rebroadcast until confirmed', async () => {
    await openAccepted();
    const sent = await sendOne();
    const other = await sendOne();
    await until(() => scene.all.every((mock) => timesSent(sent, mock) >= 4));
    chain.status = (signature) => (signature === sent.signature ? landed('confirmed') : 'null');
    await until(() => sent.trace.results.length > 0);
    const [result] = sent.trace.results;
    expect(result).toMatchObject({ status: 'confirmed', slot: 1001n, err: null });
    expect(result!.rebroadcasts).toBeGreaterThanOrEqual(3);
    const attempts = result!.rebroadcastAttempts.map(({ node, outcome }) => `${node} ${outcome}`).sort();
    expect(attempts).toEqual(['node-1 ok', 'node-2 ok', 'sender-1 ok']);
    expect(result!.rebroadcastAttempts.every(({ times }) => times >= 2)).toBe(true);
    // Only the attempts of the submission, without rebroadcasts.
    expect(sent.trace.attempts).toHaveLength(3);
    // Once another transaction was rebroadcast twice, requests in flight have arrived.
    const again = async (): Promise<void> => {
      const before = timesToAll(other);
      await until(() => timesToAll(other) >= before + 2 * 3);
    };
    await again();
    const before = timesToAll(sent);
    await again();
    expect(timesToAll(sent)).toBe(before);
  });

  it('is rebroadcast while only one node reports that it landed', async () => {
    chain = freshChain();
    const lying = { ...freshChain(), status: () => landed('finalized') };
    scene = await open([accepting(lying), accepting(chain)], [], {
      limits: { rebroadcastIntervalMs: 20 },
    });
    const sent = await sendOne();
    await until(() => scene.all.every((mock) => timesSent(sent, mock) >= 6));
    expect(sent.trace.results).toEqual([]);
    chain.status = () => landed('confirmed');
    await until(isAtRest);
    expect(sent.trace.results).toMatchObject([{ status: 'confirmed' }]);
  });

  it('expires when its blockhash expires and no node knows the transaction', async () => {
    await openAccepted({ rebroadcastIntervalMs: 60_000 });
    const { trace } = await sendOne();
    await until(() => scene.mocks.some((mock) => mock.count('getEpochInfo') > 0));
    chain.isBlockhashValid = false;
    chain.blockHeight += 151;
    await until(isAtRest);
    expect(trace.results).toMatchObject([{ status: 'expired', slot: null }]);
  });

  it('is rebroadcast at most maxRetries times', async () => {
    await openAccepted();
    const [never, twice, always] = [
      await sendOne({ maxRetries: 0 }),
      await sendOne({ maxRetries: 2 }),
      await sendOne(),
    ];
    await until(() => scene.all.every((mock) => timesSent(always, mock) >= 6));
    expect([timesToAll(never), timesToAll(twice)]).toEqual([3, 9]);
    chain.status = () => landed('confirmed');
    await until(isAtRest);
    expect(never.trace.results).toMatchObject([{ status: 'confirmed', rebroadcasts: 0 }]);
    expect(twice.trace.results).toMatchObject([{ status: 'confirmed', rebroadcasts: 2 }]);
  });

  it('is not rebroadcast while a processed slot contains it', async () => {
    await openAccepted({ rebroadcastIntervalMs: 40 });
    chain.status = (signature) => (signature === sent.signature ? landed('processed') : 'null');
    const sent = { ...signedTransaction(), trace: new SubmissionTrace() };
    await scene.submit(sent.wire, {}, sent.trace);
    const other = await sendOne();
    await until(() => scene.mocks.some((mock) => mock.count('getSignatureStatuses') >= 1));
    const seen = timesToAll(other);
    await until(() => timesToAll(other) >= seen + 3);
    const before = timesToAll(sent);
    await until(() => timesToAll(other) >= seen + 4 * 3);
    expect(timesToAll(sent)).toBe(before);
    chain.status = () => 'null';
    await until(() => timesToAll(sent) > before);
  });

  it('is shed above the limit if it was rebroadcast most often', async () => {
    await openAccepted({ pendingMax: 2 });
    const often = await sendOne();
    const never = await sendOne({ maxRetries: 0 });
    await until(() => scene.all.every((mock) => timesSent(often, mock) >= 2));
    const last = await sendOne({ maxRetries: 0 });
    expect(often.trace.results).toMatchObject([{ status: 'shed' }]);
    expect([never.trace.results, last.trace.results, scene.submitter.shed]).toEqual([[], [], 1]);
  });

  it('is not rebroadcast with an invalid signature', async () => {
    await openAccepted();
    const forged = signedTransaction();
    forged.wire[forged.wire.length - 1]! ^= 1;
    const trace = new SubmissionTrace();
    await scene.submit(forged.wire, { skipPreflight: true }, trace);
    const good = await sendOne();
    await until(() => scene.all.every((mock) => timesSent(good, mock) >= 3));
    expect(trace.results).toMatchObject([{ status: 'unconfirmed', rebroadcasts: 0 }]);
    expect(scene.all.map((mock) => timesSent({ ...forged, trace }, mock))).toEqual([1, 1, 1]);
    expect(scene.submitter.pending).toBe(1);
  });
});
