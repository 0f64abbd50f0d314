import { describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { accepting, sentTo } from './mock/accepting.ts';
import { dyingAfterRequest, failing, holding } from './mock/behaviors.ts';
import { call, failureOf, outcomeOf, until } from './mock/pool.ts';
import { type Behaviour, type MockNode, sendError } from './mock/server.ts';
import {
  SubmissionTrace,
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
  it('shares the response in flight with one request to the node', async () => {
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

  it('is rejected beyond the limits and accepted when others have ended', async () => {
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
  it('forwards invalid transactions to one node, which reports the error', async () => {
    const { submitter, all } = await open([failing(-32602), failing(-32602)], [accepting()]);
    const invalid = call('sendTransaction', ['nonsense', { encoding: 'base64' }]);
    expect(await outcomeOf(submitter, invalid)).toBe('-32602');
    expect(sentIn(all)).toBe(1);
  });

  it('reveals no URLs or headers of endpoints', async () => {
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
