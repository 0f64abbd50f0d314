import { describe, expect, it } from 'vitest';
import { type MethodKind, type MethodTraits, methodTraits } from './methods.ts';

const having = (mark: keyof MethodTraits): string[] =>
  (Object.keys(methodTraits) as MethodKind[]).filter((nature) => methodTraits[nature][mark]);

describe('method traits', () => {
  it('gives the whole timeout to methods that cannot or should not be repeated', () => {
    expect(having('mayUseWholeTimeout')).toEqual(['scan', 'mint', 'unknown']);
  });

  it('lets only transactions and airdrops outlive their caller', () => {
    expect(having('outlivesCaller')).toEqual(['send', 'mint']);
  });

  it('coalesces reads only', () => {
    expect(having('shared')).toEqual(['fixed', 'epoch', 'head', 'pinned', 'growing', 'scan']);
  });

  it('hedges light reads only', () => {
    expect(having('hedged')).toEqual(['fixed', 'epoch', 'head', 'pinned', 'growing']);
  });

  it('restricts methods with a non-idempotent effect to one node', () => {
    expect(having('oneNode')).toEqual(['mint', 'unknown']);
    expect(having('hasEffect')).toEqual([...having('signed'), ...having('oneNode')]);
  });
});
