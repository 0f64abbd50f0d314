import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultUpstreamLimits } from './limits.ts';
import { UpstreamNode } from './node.ts';
import { conditionOf } from './node-status.ts';
import type { Outcome } from './outcome.ts';

const limits = { ...defaultUpstreamLimits, circuitFailuresMax: 2, throttleMs: 1_000, throttleMaxMs: 10_000 };
const ok: Outcome = { kind: 'response', response: { body: Buffer.from('1'), errorCode: 0 }, preflight: null };
const unhealthy: Outcome = { ...ok, response: { body: Buffer.from('{}'), errorCode: -32005 } };
const late: Outcome = { kind: 'transport', wasSent: true, timedOut: true };
const broken: Outcome = { kind: 'transport', wasSent: true, timedOut: false };
const throttled = (restMs: number | null): Outcome => ({ kind: 'status', status: 429, retryAfterMs: restMs });

let node: UpstreamNode;
beforeEach(() => {
  node = new UpstreamNode(
    { name: 'n', url: 'https://provider.example/v2/0123456789?k=abcdefgh' },
    'devnet',
    limits,
  );
});
afterEach(() => node.close());

describe('node health', () => {
  it('is bad for a while after a self-reported unhealthy status', () => {
    node.recordOutcome(unhealthy, 5);
    expect(conditionOf(node, performance.now()).state).toBe('behind');
    expect(node.isUsable(performance.now())).toBe(false);
    expect(node.isUsable(performance.now() + limits.unhealthyMs)).toBe(true);
  });

  it('is failing after one poll without a response, unless this process noticed the timeout late', () => {
    const { pollTimeoutMs, pollIntervalMs } = limits;
    const condition = () => conditionOf(node, performance.now());
    node.recordPoll(late, pollTimeoutMs);
    expect(condition()).toEqual({ state: 'failing', reason: 'does not respond to polls' });
    node.recordPoll(ok, 5);
    node.recordOutcome(ok, 5);
    node.recordPoll(late, pollTimeoutMs + pollIntervalMs);
    expect(condition().state).toBe('healthy');
  });

  it('is throttled for Retry-After, within the limit', () => {
    const before = performance.now();
    node.recordOutcome(throttled(5_000), 1);
    expect(node.isThrottled(before + 4_999)).toBe(true);
    expect(node.isThrottled(performance.now() + 5_000)).toBe(false);
    node.recordOutcome(throttled(86_400_000), 1);
    expect(node.isThrottled(performance.now() + limits.throttleMaxMs)).toBe(false);
  });

  it('is throttled longer with each 429 without Retry-After', () => {
    const pauses = [1_000, 2_000, 4_000, 8_000, 10_000, 10_000];
    for (const ms of pauses) {
      node.throttledUntil = 0;
      const before = performance.now();
      node.recordOutcome(throttled(null), 1);
      expect(node.throttledUntil).toBeGreaterThanOrEqual(before + ms);
      expect(node.throttledUntil).toBeLessThanOrEqual(performance.now() + ms);
    }
    node.throttledUntil = 0;
    node.recordOutcome(ok, 1);
    node.recordOutcome(throttled(null), 1);
    expect(node.throttledUntil - performance.now()).toBeLessThanOrEqual(1_000);
  });

  it('is not affected by the timeout of a slow method', () => {
    for (let i = 0; i < 5; i++) node.recordOutcome(late, null);
    expect(node.circuit.consecutiveFailures).toBe(0);
    node.recordOutcome(broken, null);
    expect(node.circuit.consecutiveFailures).toBe(1);
  });

  it('includes timeouts in the latency, but not lost connections', () => {
    node.recordOutcome(late, 400);
    node.recordOutcome(broken, 5);
    expect(node.latencyMs).toBe(400);
  });

  it('is not restored by polls when calls fail', () => {
    node.recordOutcome(broken, 5);
    node.recordPoll(ok, 5);
    expect(node.circuit.consecutiveFailures).toBe(1);
    node.recordOutcome(broken, 5);
    expect(conditionOf(node, performance.now()).state).toBe('failing');
    node.recordPoll(ok, 5);
    expect(conditionOf(node, performance.now()).state).toBe('healthy');
  });
});

it('leaksSecret recognizes the host and possible keys in URL and headers', async () => {
  const keyed = new UpstreamNode(
    {
      name: 'n',
      url: 'https://someuser:somepassword@h.example/',
      headers: { authorization: 'Bearer 99998888' },
    },
    'devnet',
    limits,
  );
  const leaks = (one: UpstreamNode, text: string): boolean => one.leaksSecret(Buffer.from(text));
  for (const text of ['see provider.example', 'key 0123456789', 'abcdefgh'])
    expect(leaks(node, text)).toBe(true);
  for (const text of ['key \\u0030123456789', 'key %30123456789', 'ABCDEFGH', 'provider\\u002eexample'])
    expect(leaks(node, text)).toBe(true);
  for (const text of ['h.example', 'someuser', 'somepassword', '99998888'])
    expect(leaks(keyed, text)).toBe(true);
  for (const text of ['v2', 'Bearer', 'Invalid param: WrongSize']) expect(leaks(node, text)).toBe(false);
  await keyed.close();
});
