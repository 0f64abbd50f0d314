import { describe, expect, it } from 'vitest';
import { slot } from '../../solana/units.ts';
import { NodeCapabilities } from './node-capabilities.ts';

const fresh = (): NodeCapabilities => new NodeCapabilities({ capabilityMs: 1_000, unhealthyMs: 100 });

describe('NodeCapabilities', () => {
  it('lacks a method for capabilityMs', () => {
    const node = fresh();
    node.recordMissing('method', 'getAsset', null, 0);
    expect(node.isMissing('getAsset', null, 999)).toBe(true);
    expect(node.isMissing('getAssets', null, 999)).toBe(false);
    expect(node.missing(999)).toEqual(['getAsset']);
    expect(node.isMissing('getAsset', null, 1_000)).toBe(false);
    expect(node.missing(0)).toEqual([]);
  });

  it('lacks older slots, or newer ones for a short time', () => {
    const node = fresh();
    node.recordMissing('older', 'getBlock', 50n, 0);
    expect([49n, 50n, 51n].map((at) => node.isMissing('getBlock', at, 1))).toEqual([true, true, false]);
    node.recordMissing('newer', 'getBlock', 50n, 0);
    expect([49n, 50n, 51n].map((at) => node.isMissing('getBlock', at, 1))).toEqual([false, true, true]);
    expect(node.isMissing('getBlock', 51n, 100)).toBe(false);
  });

  it('lacks slots before its first available block', () => {
    const node = fresh();
    node.firstAvailable = slot(1_000);
    expect(node.isMissing('getBlock', 999n, 0)).toBe(true);
    expect(node.isMissing('getBlock', 1_000n, 0)).toBe(false);
  });

  it('remembers a limited number of methods', () => {
    const node = fresh();
    for (let i = 0; i < 1_000; i++) node.recordMissing('method', `method-${i}`, null, 0);
    expect(node.missing(0)).toHaveLength(64);
    expect(node.isMissing('method-999', null, 0)).toBe(true);
    expect(node.isMissing('method-1', null, 0)).toBe(false);
  });
});
