import { afterEach, describe, expect, it } from 'vitest';
import { chooseNode } from './choice.ts';
import { defaultUpstreamLimits } from './limits.ts';
import { UpstreamNode } from './node.ts';

const nodes: UpstreamNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

function node(name: string, latencyMs: number | null, inFlight = 0): UpstreamNode {
  const made = new UpstreamNode({ name, url: 'http://127.0.0.1:1' }, 'devnet', defaultUpstreamLimits);
  made.latencyMs = latencyMs;
  made.inFlight = inFlight;
  nodes.push(made);
  return made;
}

/** How often each name is chosen in many draws. */
function shares(from: readonly UpstreamNode[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let i = 0; i < 3_000; i++) {
    const { name } = chooseNode(from)!;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('the choice of a node', () => {
  it('is none of none and the only one of one', () => {
    const only = node('a', 5);
    expect(chooseNode([])).toBeNull();
    expect(chooseNode([only])).toBe(only);
  });

  it('is always the quicker of two, and the less busy of two that are equally quick', () => {
    expect(shares([node('slow', 50), node('quick', 5)])).toEqual({ quick: 3_000 });
    expect(shares([node('busy', 5, 9), node('idle', 5)])).toEqual({ idle: 3_000 });
  });

  it('spreads over equal nodes, and never takes the worst of three', () => {
    const { a, b, worst } = shares([node('a', 5), node('b', 5), node('worst', 500)]);
    expect(worst).toBeUndefined();
    expect(a).toBeGreaterThan(900);
    expect(b).toBeGreaterThan(900);
  });

  it('takes an unknown node before a known one, to learn about it', () => {
    expect(shares([node('known', 5), node('new', null)])).toEqual({ new: 3_000 });
  });
});
