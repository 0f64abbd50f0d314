import { afterEach, expect, it } from 'vitest';
import { defaultUpstreamLimits } from '../limits.ts';
import { UpstreamNode } from '../node.ts';
import { Primary } from './primary.ts';

const nodes: UpstreamNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

function node(name: string, latencyMs: number): UpstreamNode {
  const made = new UpstreamNode({ name, url: 'http://127.0.0.1:1' }, 'devnet', defaultUpstreamLimits);
  made.latencyMs = latencyMs;
  nodes.push(made);
  return made;
}

it('A sticky choice stays until another was clearly better for as long as was said', () => {
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

it('A sticky choice moves at once from a node that is not good any more', () => {
  const [a, b] = [node('a', 10), node('b', 90)];
  const primary = new Primary({ stickyMs: 1_000 });
  primary.review([a, b], 0);
  a.slotFault = 'behind';
  primary.review([a, b], 1);
  expect(primary.node).toBe(b);
});
