import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RpcResponse } from '../../src/protocol/call.ts';
import type { CallAttempt, Failure } from '../../src/protocol/errors.ts';
import { defaultUpstreamLimits } from '../../src/upstream/limits.ts';
import { NodeGroup } from '../../src/upstream/node-group.ts';
import { executeWithRetry } from '../../src/upstream/retry/executor.ts';
import { ManualNode } from './mock/manual-node.ts';
import { call } from './mock/pool.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limits = {
  ...defaultUpstreamLimits,
  attemptsMax: 6,
  timeoutMs: 4_000,
  attemptTimeoutMs: 1_000,
  reconnectMaxMs: 100,
  throttleMs: 40,
  hedgeMinMs: 20,
  hedgeMaxMs: 20,
};

const ends = [
  'good',
  'null',
  'retry',
  'doubt',
  'believed',
  'lost',
  'refused',
  'late',
  '429',
  '502',
  'invalid',
] as const;
type End = (typeof ends)[number];
type Step = { kind: 'end'; which: number; end: End } | { kind: 'wait'; ms: number } | { kind: 'leave' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('end'), which: fc.nat(9), end: fc.constantFrom(...ends) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: 1, max: 80 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave') }) },
);

const errors: Readonly<Partial<Record<End, number>>> = { retry: -32005, doubt: -32007, believed: -32602 };

function settle(node: ManualNode, end: End): void {
  const sent = node.pending[0]!;
  const response = (status: number, text: string): void =>
    node.end(sent, { kind: 'response', status, retryAfter: null, body: Buffer.from(text) });
  if (end === 'good') node.respond(sent, '"result":7');
  else if (end === 'null') node.respond(sent, '"result":null');
  else if (end === '429') response(429, '');
  else if (end === '502') response(502, '');
  else if (end === 'invalid') response(200, 'x');
  else if (errors[end] === undefined) {
    const wasSent = end !== 'refused';
    node.end(sent, { kind: 'transport', wasSent, timedOut: end === 'late' });
  } else node.respond(sent, `"error":{"code":${errors[end]},"message":"x"}`);
}

type Results = { answers: RpcResponse[]; failures: Failure[]; attempts: CallAttempt[] };

function play(method: string, count: number, steps: readonly Step[]) {
  const nodes = Array.from({ length: count }, (_, index) => new ManualNode(`node-${index}`, limits));
  const group = new NodeGroup(nodes, limits);
  const results: Results = { answers: [], failures: [], attempts: [] };
  const trace = { onAttempt: (attempt: CallAttempt) => void results.attempts.push(attempt) };
  const isOver = (): boolean => results.answers.length + results.failures.length > 0;
  const request = (): ManualNode[] => nodes.filter(({ pending }) => pending.length > 0);
  const most = { atOnce: 0, ofOne: 0 };
  const note = (): void => {
    most.atOnce = Math.max(most.atOnce, request().length);
    most.ofOne = Math.max(most.ofOne, ...nodes.map(({ pending }) => pending.length));
  };
  const sent: End[] = [];
  const pending = executeWithRetry(
    group,
    { ...call(method, ['x']), trace },
    {
      onResponse: (answer) => void results.answers.push(answer),
      onError: (failure) => void results.failures.push(failure),
    },
  );
  const end = (which: number, how: End): void => {
    const open = request();
    if (open.length === 0) return;
    sent.push(how);
    settle(open[which % open.length]!, how);
    // A good response ends the call.
    if (how === 'good') expect(isOver()).toBe(true);
  };
  note();
  for (const one of steps) {
    if (isOver()) break;
    if (one.kind === 'end') end(one.which, one.end);
    else if (one.kind === 'wait') vi.advanceTimersByTime(one.ms);
    else pending.cancel();
    note();
  }
  for (let i = 0; i < 200 && !isOver(); i++) {
    vi.advanceTimersByTime(50);
    end(0, 'good');
    note();
  }
  group.stop();
  const posts = nodes.reduce((sum, node) => sum + node.requestCount, 0);
  const inFlight = nodes.reduce((sum, node) => sum + node.inFlight, 0);
  for (const node of nodes) void node.close();
  return { results, most, posts, inFlight, sent };
}

const scenario = fc.record({
  count: fc.integer({ min: 1, max: 4 }),
  steps: fc.array(step, { maxLength: 25 }),
});

it('a read ends exactly once for any outcomes in any order, with no request or timer left', () => {
  fc.assert(
    fc.property(
      scenario,
      fc.constantFrom('getBalance', 'getTransaction', 'getBlock'),
      ({ count, steps }, method) => {
        const { results, most, posts, inFlight } = play(method, count, steps);
        expect(results.answers.length + results.failures.length).toBe(1);
        expect(inFlight).toBe(0);
        expect(results.attempts).toHaveLength(posts);
        expect(most.ofOne).toBeLessThanOrEqual(1);
        expect(most.atOnce).toBeLessThanOrEqual(2);
        expect(vi.getTimerCount()).toBe(0);
      },
    ),
    { numRuns: 400 },
  );
});

it.each(['requestAirdrop', 'getAsset'])('a non-repeatable call is sent once: %s', (method) => {
  fc.assert(
    fc.property(scenario, ({ count, steps }) => {
      const { results, most, inFlight, sent } = play(method, count, steps);
      expect(results.answers.length + results.failures.length).toBe(1);
      expect(inFlight).toBe(0);
      expect(most.atOnce).toBeLessThanOrEqual(1);
      expect(sent.filter((end) => end !== 'refused').length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 150 },
  );
});
