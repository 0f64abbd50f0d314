import { afterEach, describe, expect, it } from 'vitest';
import { defaultUpstreamLimits } from '../limits.ts';
import { UpstreamNode } from '../node.ts';
import { type NodeSelector, PowerOfTwoSelector, Primary, WeightedSelector } from './load-balancer.ts';

const nodes: UpstreamNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

function node(name: string, latencyMs: number | null, inFlight = 0, more: object = {}): UpstreamNode {
  const config = { name, url: 'http://127.0.0.1:1', ...more };
  const made = new UpstreamNode(config, 'devnet', defaultUpstreamLimits);
  made.latencyMs = latencyMs;
  made.inFlight = inFlight;
  nodes.push(made);
  return made;
}

function shares(
  from: readonly UpstreamNode[],
  draw: NodeSelector = new PowerOfTwoSelector(),
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let i = 0; i < 3_000; i++) {
    for (const one of from) draw.consider(one, 0);
    const { name } = draw.pick()!;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('PowerOfTwoSelector', () => {
  it('selects among candidates of the lowest rank, in any order', () => {
    const [a, b, c] = [node('a', 1), node('b', 1), node('c', 1)];
    const draw = new PowerOfTwoSelector();
    for (const order of [
      [a, b, c],
      [c, b, a],
      [b, a, c],
    ]) {
      for (const one of order) draw.consider(one, one === b ? 1 : 2);
      expect(draw.pick()).toBe(b);
    }
  });

  it('prefers the clearly faster node, or the less busy one of similar nodes', () => {
    expect(shares([node('slow', 50), node('quick', 5)])).toEqual({ quick: 3_000 });
    expect(shares([node('busy', 5, 9), node('idle', 6)])).toEqual({ idle: 3_000 });
  });

  it('spreads over similar nodes and never selects the worst of three', () => {
    const { a, b, worst } = shares([node('a', 5), node('b', 6), node('worst', 500)]);
    expect(worst).toBeUndefined();
    expect(a).toBeGreaterThan(900);
    expect(b).toBeGreaterThan(900);
  });

  it('prefers an unknown node over a known one', () => {
    expect(shares([node('known', 5), node('new', null)])).toEqual({ new: 3_000 });
  });
});

it('WeightedSelector divides calls by weight among the candidates of the lowest rank', () => {
  const nodes = [node('fast', 1), node('slow', 500, 9, { weight: 2 }), node('own', 1, 0, { weight: 3 })];
  const { fast, slow, own } = shares(nodes, new WeightedSelector());
  // Six standard deviations on either side of 500, 1,000 and 1,500.
  for (const [share, expected] of [
    [fast, 500],
    [slow, 1_000],
    [own, 1_500],
  ] as const)
    expect(Math.abs(share! - expected)).toBeLessThan(165);
  const draw = new WeightedSelector();
  for (const [index, one] of nodes.entries()) draw.consider(one, 3 - index);
  expect(draw.pick()?.name).toBe('own');
  expect(draw.pick()).toBeNull();
});

it('keeps a sticky primary until another is clearly better for stickyMs', () => {
  const [a, b] = [node('a', 10), node('b', 12)];
  const primary = new Primary({ stickyMs: 1_000 });
  primary.review([a, b], 0);
  expect(primary.node).toBe(a);
  b.latencyMs = 8;
  primary.review([a, b], 10);
  primary.review([a, b], 5_000);
  expect(primary.node).toBe(a);
  b.latencyMs = 5;
  primary.review([a, b], 6_000);
  a.latencyMs = 6;
  primary.review([a, b], 6_500);
  a.latencyMs = 10;
  primary.review([a, b], 6_600);
  primary.review([a, b], 7_500);
  expect(primary.node).toBe(a);
  primary.review([a, b], 7_600);
  expect(primary.node).toBe(b);
});

it('moves the sticky primary to a better priority at once', () => {
  const [fallback, own] = [node('fallback', 1, 0, { priority: 2 }), node('own', 100)];
  const primary = new Primary({ stickyMs: 1_000 });
  primary.review([fallback], 0);
  primary.review([fallback, own], 1);
  expect(primary.node).toBe(own);
});

it('starts with a primary of known latency', () => {
  const primary = new Primary({ stickyMs: 1_000 });
  const [unknown, known] = [node('unknown', null), node('known', 5)];
  primary.review([unknown, known], 0);
  expect(primary.node).toBe(known);
});
