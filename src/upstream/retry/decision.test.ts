import { describe, expect, it } from 'vitest';
import type { MethodKind } from '../../protocol/methods.ts';
import type { Outcome, PreflightFault } from '../outcome.ts';
import {
  decideRetry,
  isAmbiguous,
  isConnectFailure,
  type RetryDecision,
  rejectionCodeOf,
} from './decision.ts';

const answer = (errorCode: number, preflight: PreflightFault | null = null): Outcome => ({
  kind: 'response',
  response: { body: Buffer.from('x'), errorCode },
  preflight,
});
const refused: Outcome = { kind: 'transport', wasSent: false, timedOut: false };
const broken: Outcome = { kind: 'transport', wasSent: true, timedOut: false };
const late: Outcome = { kind: 'transport', wasSent: true, timedOut: true };
const status = (code: number): Outcome => ({ kind: 'status', status: code, retryAfterMs: null });
const garbage: Outcome = { kind: 'invalid' };

const repeatable: readonly MethodKind[] = [
  'fixed',
  'epoch',
  'head',
  'pinned',
  'growing',
  'scan',
  'simulate',
  'send',
];
const single: readonly MethodKind[] = ['mint', 'unknown'];

const verdictsOf = (natures: readonly MethodKind[], outcome: Outcome): RetryDecision[] => [
  ...new Set(natures.map((nature) => decideRetry(nature, outcome))),
];

describe('decideRetry', () => {
  it('returns every result', () => {
    expect(verdictsOf([...repeatable, ...single], answer(0))).toEqual(['return']);
  });

  it.each([-32004, -32005, -32014, -32016, -32019, -32603, -32011, -32010, -32012, -32008, -32601, -32065])(
    'retries on another node after %i',
    (code) => {
      expect(verdictsOf(repeatable, answer(code))).toEqual(['retry']);
    },
  );

  it.each([-32001, -32007, -32009, -32018, -32020])('confirms %i with one other node', (code) => {
    expect(verdictsOf(repeatable, answer(code))).toEqual(['confirm']);
  });

  it.each([-32602, -32002, -32003, -32006, -32013, -32015, -32017, -32021, -32700, -1])(
    'returns %i at once',
    (code) => {
      expect(verdictsOf(repeatable, answer(code))).toEqual(['return']);
    },
  );

  it('confirms an unknown blockhash, but no other preflight error', () => {
    expect(decideRetry('send', answer(-32002, 'blockhash-not-found'))).toBe('confirm');
    expect(decideRetry('send', answer(-32002, 'already-processed'))).toBe('return');
  });

  it('retries after every failure without a response', () => {
    for (const outcome of [refused, broken, late, garbage, status(429), status(502), status(403)]) {
      expect(verdictsOf(repeatable, outcome)).toEqual(['retry']);
    }
  });

  it('does not repeat airdrops and unknown methods once sent', () => {
    expect(verdictsOf(single, refused)).toEqual(['retry']);
    for (const outcome of [broken, late, garbage, status(429), status(502)]) {
      expect(verdictsOf(single, outcome)).toEqual(['fail']);
    }
    expect(verdictsOf(single, answer(-32005))).toEqual(['return']);
  });

  it('retries non-repeatable methods elsewhere if the node does not serve the method', () => {
    for (const code of [-32600, -32601, -32065]) expect(verdictsOf(single, answer(code))).toEqual(['retry']);
  });

  it('does not retry on a node that rejected the request itself', () => {
    for (const outcome of [status(400), status(413)]) {
      expect(verdictsOf(repeatable, outcome)).toEqual(['retry-elsewhere']);
      expect(verdictsOf(single, outcome)).toEqual(['fail']);
    }
  });

  it("reports the caller's fault only if every node rejected the request", () => {
    expect(rejectionCodeOf([])).toBeNull();
    expect(rejectionCodeOf([status(400), status(400)])).toBe('INVALID_REQUEST');
    expect(rejectionCodeOf([status(400), status(413)])).toBe('BODY_TOO_LARGE');
    expect(rejectionCodeOf([status(413), refused])).toBeNull();
    expect(rejectionCodeOf([status(413), answer(-32005)])).toBeNull();
  });

  it('knows when nothing was sent', () => {
    expect([refused, broken, late, status(503), garbage].map(isConnectFailure)).toEqual([
      ...[true, false, false, false, false],
    ]);
  });

  it('returns a too large response where a second one would be costly or harmful', () => {
    expect(verdictsOf(['fixed', 'epoch', 'head', 'pinned', 'growing'], { kind: 'too-large' })).toEqual([
      'retry-elsewhere',
    ]);
    expect(verdictsOf(['scan', 'simulate', 'send', ...single], { kind: 'too-large' })).toEqual(['fail']);
  });

  it('ends when the caller cancels', () => {
    expect(verdictsOf(repeatable, { kind: 'aborted', wasSent: true })).toEqual(['fail']);
  });
});

describe('isAmbiguous', () => {
  it('is true unless the node clearly rejected the request', () => {
    const open = [broken, late, garbage, status(502), status(504), answer(-32603)];
    const clear = [refused, status(429), status(403), answer(-32005), answer(0)];
    expect(open.map(isAmbiguous)).toEqual(open.map(() => true));
    expect(clear.map(isAmbiguous)).toEqual(clear.map(() => false));
  });
});
