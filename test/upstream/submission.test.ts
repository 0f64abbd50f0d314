import { afterEach, describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { accepting, sentTo } from './mock/accepting.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { failing } from './mock/failing.ts';
import { failureOf } from './mock/failure-of.ts';
import { htmlBadGateway } from './mock/html-bad-gateway.ts';
import { call, until } from './mock/pool.ts';
import { type Behaviour, type MockNode, sendError } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import {
  dispatch,
  SubmissionTrace,
  type SubmitScene,
  sendCall,
  sentIn,
  signedTransaction,
  stageSubmitter,
} from './mock/submitting.ts';

const preflightFailure = failing(-32002, 'Transaction simulation failed: no', { err: 'AccountNotFound' });
const blockhashNotFound = failing(-32002, 'Transaction simulation failed: Blockhash not found', {
  err: 'BlockhashNotFound',
});
const alreadyProcessed = failing(-32002, 'This transaction has already been processed', {
  err: 'AlreadyProcessed',
});

let scene: SubmitScene;
afterEach(() => scene.close());

async function open(...given: Parameters<typeof stageSubmitter>): Promise<SubmitScene> {
  scene = await stageSubmitter(...given);
  return scene;
}

const all = (): readonly MockNode[] => [...scene.mocks, ...scene.sendOnlyMocks];
const configsAt = (mocks: readonly MockNode[]): Record<string, unknown>[] =>
  mocks
    .flatMap(({ received }) => received.filter(({ method }) => method === 'sendTransaction'))
    .map((request) => sentTo(request).config);

describe('transaction with preflight', () => {
  it('is simulated by one node, then sent once to all others', async () => {
    const { submitter } = await open([accepting(), accepting(), accepting()], [accepting()]);
    const { wire, signature } = signedTransaction();
    const trace = new SubmissionTrace();
    const pending = sendCall(wire, { preflightCommitment: 'processed', minContextSlot: 5 }, trace);
    expect(await dispatch(submitter, pending)).toBe(signature);
    await until(() => trace.attempts.length === 4);
    expect(all().map((mock) => mock.count('sendTransaction'))).toEqual([1, 1, 1, 1]);
    for (const { received } of all()) expect(sentTo(received[0]!).wire).toEqual(wire);
    const looked = configsAt(all()).filter(({ skipPreflight }) => skipPreflight !== true);
    expect(looked).toEqual([{ encoding: 'base64', preflightCommitment: 'processed', minContextSlot: 5 }]);
    const others = configsAt(all()).filter(({ skipPreflight }) => skipPreflight === true);
    expect(others).toEqual(Array(3).fill({ encoding: 'base64', skipPreflight: true, maxRetries: 0 }));
    expect(trace.attempts.map(({ node, outcome }) => `${node} ${outcome}`).sort()).toEqual([
      ...['node-1 ok', 'node-2 ok', 'node-3 ok', 'sender-1 ok'],
    ]);
  });

  it('is sent to no other node if it fails', async () => {
    const { submitter } = await open([preflightFailure, preflightFailure], [accepting()]);
    expect(await dispatch(submitter, sendCall(signedTransaction().wire))).toBe('-32002');
    expect(sentIn(all())).toBe(1);
  });

  it('is sent to no other node if two nodes do not know its blockhash, but to all if the second does', async () => {
    const { submitter, mocks } = await open([blockhashNotFound, blockhashNotFound], [accepting()]);
    expect(await dispatch(submitter, sendCall(signedTransaction().wire))).toBe('-32002');
    expect([sentIn(mocks), sentIn(scene.sendOnlyMocks)]).toEqual([2, 0]);
    let pending = 0;
    const second: Behaviour = (...given) => (pending++ === 0 ? blockhashNotFound : accepting())(...given);
    for (const mock of mocks) mock.become(second);
    const { wire, signature } = signedTransaction();
    expect(await dispatch(submitter, sendCall(wire))).toBe(signature);
    await until(() => sentIn(scene.sendOnlyMocks) === 1);
  });

  it('is not sent without a simulation', async () => {
    const { submitter } = await open([htmlBadGateway], [accepting()], { upstream: { attemptsMax: 2 } });
    const { wire, signature } = signedTransaction();
    const failure = await failureOf(request(submitter, sendCall(wire)));
    expect(failure.facts).toEqual({ network: 'devnet', outcome: 'unknown', signature });
    expect(sentIn(scene.sendOnlyMocks)).toBe(0);
  });

  it('does not wait long for an unresponsive node', async () => {
    let pending = 0;
    const either: Behaviour = (...given) => (pending++ === 0 ? silent : accepting())(...given);
    const { submitter } = await open([either, either], [], { upstream: { sendAttemptTimeoutMs: 60 } });
    const { wire, signature } = signedTransaction();
    expect(await dispatch(submitter, sendCall(wire))).toBe(signature);
  });
});

describe('transaction without preflight', () => {
  it('is sent to all at once; the first acceptance is the response', async () => {
    const { submitter } = await open([silent, accepting(), dyingAfterRequest], [silent, htmlBadGateway]);
    const { wire, signature } = signedTransaction();
    expect(await dispatch(submitter, sendCall(wire, { skipPreflight: true, minContextSlot: 3 }))).toBe(
      signature,
    );
    await until(() => all().every((mock) => mock.count('sendTransaction') === 1));
    for (const { received } of all()) expect(sentTo(received[0]!).wire).toEqual(wire);
    const [own, others] = [configsAt(scene.mocks), configsAt(scene.sendOnlyMocks)];
    expect(own.every(({ minContextSlot }) => minContextSlot === 3)).toBe(true);
    expect(own.filter(({ maxRetries }) => maxRetries === undefined)).toHaveLength(1);
    expect(others).toEqual(Array(2).fill({ encoding: 'base64', skipPreflight: true, maxRetries: 0 }));
  });

  it('is rejected when a node rejects it and none accepts it, regardless of send-only endpoints', async () => {
    const { submitter } = await open([failing(-32003), dyingAfterRequest], [failing(-32600)]);
    expect(await dispatch(submitter, sendCall(signedTransaction().wire, { skipPreflight: true }))).toBe(
      '-32003',
    );
  });

  it('is accepted when a target already processed it', async () => {
    const { submitter } = await open([dyingAfterRequest], [alreadyProcessed]);
    const { wire, signature } = signedTransaction();
    expect(await dispatch(submitter, sendCall(wire, { skipPreflight: true }))).toBe(signature);
  });

  it('is retried until the timeout when all fail', async () => {
    let pending = 0;
    const third: Behaviour = (...given) => (++pending < 3 ? dyingAfterRequest : accepting())(...given);
    const { submitter } = await open([third, third], [failing(-32097)]);
    const { wire, signature } = signedTransaction();
    expect(await dispatch(submitter, sendCall(wire, { skipPreflight: true }))).toBe(signature);
    expect(sentIn(scene.mocks)).toBe(3);
  });

  it('fails with an unknown outcome and its signature without responses', async () => {
    let pending = 0;
    // Its bytes were sent first; then the node was gone.
    const vanishing: Behaviour = (request, reply, socket) =>
      pending++ === 0 ? socket.destroy() : sendError(reply, request.id, -32005, 'Node is behind');
    const { submitter } = await open([vanishing]);
    const { wire, signature } = signedTransaction();
    const failure = await failureOf(request(submitter, sendCall(wire, { skipPreflight: true })));
    expect(failure.row.owner).toBe('upstream');
    expect(failure.facts).toEqual({ network: 'devnet', outcome: 'unknown', signature });
  });
});

describe('duplicate transaction', () => {
  it('shares the response in flight with one request to the node', async () => {
    const held: (() => void)[] = [];
    const late: Behaviour = (...given) => void held.push(() => accepting()(...given));
    const { submitter } = await open([late]);
    const { wire, signature } = signedTransaction();
    const answers = [1, 2, 3].map(() => dispatch(submitter, sendCall(wire)));
    await until(() => held.length > 0);
    for (const release of held) release();
    expect(await Promise.all(answers)).toEqual([signature, signature, signature]);
    expect(sentIn(all())).toBe(1);
  });

  it('shares a rejection under the same conditions only', async () => {
    const either: Behaviour = (request, reply, socket) =>
      (sentTo(request).config.skipPreflight === true ? accepting() : preflightFailure)(
        request,
        reply,
        socket,
      );
    const { submitter } = await open([either]);
    const { wire, signature } = signedTransaction();
    const configs = [{}, {}, { skipPreflight: true }];
    const answers = await Promise.all(configs.map((config) => dispatch(submitter, sendCall(wire, config))));
    expect(answers).toEqual(['-32002', '-32002', signature]);
    expect(sentIn(all())).toBe(2);
  });

  it('gets the same response for a while after acceptance, then is sent again', async () => {
    const { submitter } = await open([accepting()], [], { limits: { acceptedMs: 40 } });
    const { wire, signature } = signedTransaction();
    const started = performance.now();
    expect(await dispatch(submitter, sendCall(wire))).toBe(signature);
    expect(await dispatch(submitter, sendCall(wire))).toBe(signature);
    if (performance.now() - started < 40) expect(sentIn(all())).toBe(1);
    await until(() => performance.now() - started > 100);
    await dispatch(submitter, sendCall(wire));
    expect(sentIn(all())).toBeGreaterThanOrEqual(2);
  });

  it('is simulated for a sender that wants it, although it was accepted without', async () => {
    const { submitter } = await open([accepting()]);
    const { wire } = signedTransaction();
    await dispatch(submitter, sendCall(wire, { skipPreflight: true }));
    scene.mocks[0]!.become(preflightFailure);
    expect(await dispatch(submitter, sendCall(wire))).toBe('-32002');
  });

  it('is rejected beyond the limits and accepted when others have ended', async () => {
    const limits = { underWayMax: 1, callersMax: 2 };
    const held: (() => void)[] = [];
    const holding: Behaviour = (...given) => void held.push(() => accepting()(...given));
    const { submitter, mocks } = await open([holding], [], { limits });
    const { wire, signature } = signedTransaction();
    const pending = sendCall(wire);
    const answers = [dispatch(submitter, pending), dispatch(submitter, pending)];
    await until(() => sentIn(mocks) === 1);
    expect(await dispatch(submitter, sendCall(signedTransaction().wire))).toBe('OVERLOADED');
    expect(await dispatch(submitter, pending)).toBe('OVERLOADED');
    expect(sentIn(mocks)).toBe(1);
    mocks[0]!.become(accepting());
    for (const answer of held) answer();
    expect(await Promise.all(answers)).toEqual([signature, signature]);
    const next = signedTransaction();
    expect(await dispatch(submitter, sendCall(next.wire))).toBe(next.signature);
  });

  it('is a different one if any byte differs', async () => {
    const { submitter } = await open([accepting()]);
    const { wire } = signedTransaction();
    const other = Buffer.from(wire);
    other[other.length - 1]! ^= 1;
    await dispatch(submitter, sendCall(wire));
    await dispatch(submitter, sendCall(other));
    expect(sentIn(all())).toBe(2);
  });
});

describe('submitter', () => {
  it('forwards invalid transactions to one node, which reports the error', async () => {
    const { submitter } = await open([failing(-32602), failing(-32602)], [accepting()]);
    const nonsense = call('sendTransaction', ['nonsense', { encoding: 'base64' }]);
    expect(await dispatch(submitter, nonsense)).toBe('-32602');
    expect(sentIn(all())).toBe(1);
  });

  it('forwards all other calls', async () => {
    const { submitter } = await open([accepting()], [accepting()]);
    expect((await request(submitter, call('getSlot'))).body.toString()).toBe('1000');
    expect(scene.sendOnlyMocks[0]!.received).toEqual([]);
  });

  it('reveals no URLs or headers of endpoints', async () => {
    const telling: Behaviour = (request, reply) =>
      sendError(reply, request.id, -32000, `no access for SECRET-TOKEN at ${request.path}`);
    const { submitter } = await open([dyingAfterRequest], [telling], { upstream: { attemptsMax: 1 } });
    const trace = new SubmissionTrace();
    const failure = await failureOf(
      request(submitter, sendCall(signedTransaction().wire, { skipPreflight: true }, trace)),
    );
    const [{ headers, path }] = scene.sendOnlyMocks[0]!.received as [
      (typeof scene.sendOnlyMocks)[0]['received'][0],
    ];
    expect([headers['x-token'], path]).toEqual(['SECRET-TOKEN', '/SECRET-PATH']);
    const results = JSON.stringify([failure.facts, failure.text, trace.attempts, scene.logged]);
    expect(results).not.toContain('SECRET');
    expect(String((failure.cause as Error).cause ?? failure.cause)).not.toContain('SECRET');
  });
});
