import { describe, expect, it } from 'vitest';
import { type MethodKind, type MethodTraits, methodTraits } from './methods.ts';

const kindsWith = (trait: keyof MethodTraits): string[] =>
  (Object.keys(methodTraits) as MethodKind[]).filter((kind) => methodTraits[kind][trait]);

describe('method traits', () => {
  it('gives the whole timeout to methods that cannot or should not be repeated', () => {
    expect(kindsWith('mayUseWholeTimeout')).toEqual(['scan', 'mint', 'unknown']);
  });

  it('lets only transactions and airdrops outlive their caller', () => {
    expect(kindsWith('outlivesCaller')).toEqual(['send', 'mint']);
  });

  it('coalesces reads only', () => {
    expect(kindsWith('shared')).toEqual(['fixed', 'epoch', 'head', 'pinned', 'growing', 'scan']);
  });

  it('hedges light reads only', () => {
    expect(kindsWith('hedged')).toEqual(['fixed', 'epoch', 'head', 'pinned', 'growing']);
  });

  it('restricts methods with a non-idempotent effect to one node', () => {
    expect(kindsWith('singleNode')).toEqual(['mint', 'unknown']);
    expect(kindsWith('hasEffect')).toEqual([...kindsWith('signed'), ...kindsWith('singleNode')]);
  });
});
