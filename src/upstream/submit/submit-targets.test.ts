import { afterEach, expect, it, vi } from 'vitest';
import { defaultUpstreamLimits } from '../limits.ts';
import { UpstreamNode } from '../node.ts';
import { SubmitTargets } from './submit-targets.ts';

const limits = { ...defaultUpstreamLimits, circuitFailuresMax: 1, circuitOpenMs: 60_000 };
const made: UpstreamNode[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const node of made.splice(0)) node.close();
});

function nodeNamed(name: string): UpstreamNode {
  const node = new UpstreamNode({ name, url: 'http://127.0.0.1:1' }, 'devnet', limits);
  made.push(node);
  return node;
}

it('retries a failed send-only endpoint after a while although others are healthy', () => {
  const [well, before, now] = [nodeNamed('well'), nodeNamed('before'), nodeNamed('now')];
  const later = performance.now() + limits.circuitOpenMs;
  before.circuit.recordFailure(performance.now());
  vi.spyOn(performance, 'now').mockReturnValue(later + 1_000);
  now.circuit.recordFailure(later + 1_000);
  const senders = new SubmitTargets({ nodesFor: () => [] }, new Map([['devnet', [well, before, now]]]));
  expect(senders.sendOnly('devnet').map(({ name }) => name)).toEqual(['well', 'before']);
});
