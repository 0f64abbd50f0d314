import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stateOf } from './health/node-words.ts';
import { defaultUpstreamLimits } from './limits.ts';
import { UpstreamNode } from './node.ts';
import type { Outcome } from './outcome.ts';

const limits = { ...defaultUpstreamLimits, circuitFailuresMax: 2, restMs: 1_000, restMaxMs: 10_000 };
const ok: Outcome = { kind: 'answer', answer: { body: Buffer.from('1'), errorCode: 0 }, preflight: null };
const unhealthy: Outcome = { ...ok, answer: { body: Buffer.from('{}'), errorCode: -32005 } };
const late: Outcome = { kind: 'transport', bytesLeft: true, timedOut: true };
const broken: Outcome = { kind: 'transport', bytesLeft: true, timedOut: false };
const throttled = (restMs: number | null): Outcome => ({ kind: 'status', status: 429, restMs });

let node: UpstreamNode;
beforeEach(() => {
  node = new UpstreamNode(
    { name: 'n', url: 'https://provider.example/v2/0123456789?k=abcdefgh' },
    'devnet',
    limits,
  );
});
afterEach(() => node.close());

describe('what a node is known for', () => {
  it('is good while nothing is known', () => {
    expect(node.isGood(performance.now())).toBe(true);
    expect(stateOf(node, performance.now())).toBe('unknown');
  });

  it('is passed over for a while after it called itself unhealthy', () => {
    node.learn(unhealthy, 5);
    expect(stateOf(node, performance.now())).toBe('behind');
    expect(node.isGood(performance.now())).toBe(false);
    expect(node.isGood(performance.now() + limits.cordonMs)).toBe(true);
  });

  it('rests as long as it asks for, within the limit', () => {
    const before = performance.now();
    node.learn(throttled(5_000), 1);
    expect(node.isResting(before + 4_999)).toBe(true);
    expect(node.isResting(performance.now() + 5_000)).toBe(false);
    node.learn(throttled(86_400_000), 1);
    expect(node.isResting(performance.now() + limits.restMaxMs)).toBe(false);
  });

  it('that asks for a shorter rest while it rests is left alone as long as it asked for before', () => {
    node.learn(throttled(5_000), 1);
    const { restingUntil } = node;
    for (const ms of [0, 100]) node.learn(throttled(ms), 1);
    expect(node.restingUntil).toBe(restingUntil);
    node.learn(throttled(8_000), 1);
    expect(node.restingUntil).toBeGreaterThan(restingUntil);
  });

  it('rests longer each time it throttles without saying for how long', () => {
    const rests = [1_000, 2_000, 4_000, 8_000, 10_000, 10_000];
    for (const ms of rests) {
      node.restingUntil = 0;
      const before = performance.now();
      node.learn(throttled(null), 1);
      expect(node.restingUntil).toBeGreaterThanOrEqual(before + ms);
      expect(node.restingUntil).toBeLessThanOrEqual(performance.now() + ms);
    }
    node.restingUntil = 0;
    node.learn(ok, 1);
    node.learn(throttled(null), 1);
    expect(node.restingUntil - performance.now()).toBeLessThanOrEqual(1_000);
  });

  it('becomes slow by staying silent, so that others are chosen', () => {
    node.learn(ok, 10);
    node.learn(late, 1_000);
    expect(node.latencyMs).toBeGreaterThan(200);
  });

  it('is not blamed for a question that may take long and took too long', () => {
    for (let i = 0; i < 5; i++) node.learn(late, null);
    expect(node.circuit.failuresInRow).toBe(0);
    node.learn(broken, null);
    expect(node.circuit.failuresInRow).toBe(1);
  });

  it('is not excused by its polls from the failures of calls', () => {
    node.learn(broken, 5);
    node.learnFromPoll(ok, 5);
    expect(node.circuit.failuresInRow).toBe(1);
    node.learn(broken, 5);
    expect(stateOf(node, performance.now())).toBe('failing');
    node.learnFromPoll(ok, 5);
    expect(stateOf(node, performance.now())).toBe('healthy');
  });
});

describe('what a node must not reveal', () => {
  it('is its host, and whatever in its URL and headers may be a key', async () => {
    const keyed = new UpstreamNode(
      {
        name: 'n',
        url: 'https://someuser:somepassword@h.example/',
        headers: { authorization: 'Bearer 99998888' },
      },
      'devnet',
      limits,
    );
    const reveals = (one: UpstreamNode, text: string): boolean => one.revealedBy(Buffer.from(text));
    for (const text of ['see provider.example', 'key 0123456789', 'abcdefgh'])
      expect(reveals(node, text)).toBe(true);
    for (const text of ['key \\u0030123456789', 'key %30123456789', 'ABCDEFGH', 'provider\\u002eexample'])
      expect(reveals(node, text)).toBe(true);
    for (const text of ['h.example', 'someuser', 'somepassword', '99998888'])
      expect(reveals(keyed, text)).toBe(true);
    for (const text of ['v2', 'Bearer', 'Invalid param: WrongSize']) expect(reveals(node, text)).toBe(false);
    await keyed.close();
  });
});
