import { expect, it } from 'vitest';
import { slot } from '../../solana/units.ts';
import { NodeHealth } from '../health/node-health.ts';
import { defaultUpstreamLimits } from '../limits.ts';
import { ChainHeads } from './chain-heads.ts';

const nodeAt = (processed: number, at = 0): NodeHealth => {
  const node = new NodeHealth({ name: 'n', network: 'devnet', budget: null }, defaultUpstreamLimits);
  node.slots.recordPoll('processed', slot(processed), at);
  return node;
};

it('uses the lower slot of two nearby nodes, else the newest', () => {
  const heads = new ChainHeads();
  expect(heads.at('processed')).toBeNull();
  heads.update([nodeAt(1_000)]);
  expect(heads.at('processed')).toEqual({ slot: 1_000n, atMs: 0 });
  heads.update([nodeAt(1_003, 5), nodeAt(1_001, 4), nodeAt(900, 9)]);
  expect(heads.at('processed')).toEqual({ slot: 1_001n, atMs: 4 });
  heads.update([nodeAt(1_003, 5), nodeAt(900, 9)]);
  expect(heads.at('processed')?.slot).toBe(1_003n);
  expect(heads.at('finalized')).toBeNull();
});

it('ignores a single node ahead and implausible jumps', () => {
  const heads = new ChainHeads();
  const liar = nodeAt(9_000);
  heads.update([liar, nodeAt(1_001), nodeAt(1_000)]);
  expect(heads.at('processed')?.slot).toBe(1_000n);
  const leaping = nodeAt(1_000);
  leaping.slots.recordPoll('processed', slot(9_000), 1);
  heads.update([leaping, nodeAt(1_001)]);
  expect(heads.at('processed')?.slot).toBe(1_001n);
  heads.update([leaping]);
  expect(heads.at('processed')?.slot).toBe(9_000n);
});

it('limits finalized heads to replayed slots', () => {
  const heads = new ChainHeads();
  const node = nodeAt(1_000);
  node.slots.finalized = slot(1_010);
  heads.update([node]);
  expect(heads.at('finalized')?.slot).toBe(1_000n);
});

it('reports whether a head was read recently', () => {
  const heads = new ChainHeads();
  expect(heads.isInUse('confirmed', 1_000, performance.now())).toBe(false);
  heads.at('confirmed');
  expect(heads.isInUse('confirmed', 1_000, performance.now())).toBe(true);
  expect(heads.isInUse('confirmed', 1_000, performance.now() + 2_000)).toBe(false);
  expect(heads.isInUse('finalized', 1_000, performance.now())).toBe(false);
});
