import { describe, expect, it } from 'vitest';
import { type MethodKind, type MethodTraits, methodTraits } from './methods.ts';

const having = (mark: keyof MethodTraits): string[] =>
  (Object.keys(methodTraits) as MethodKind[]).filter((nature) => methodTraits[nature][mark]);

describe('the natures of methods', () => {
  it('give all the time to what cannot be repeated, or should not', () => {
    expect(having('takesAllTheTime')).toEqual(['scan', 'mint', 'unknown']);
  });

  it('let only a transaction, signed or to be made, go on without its caller', () => {
    expect(having('outlivesCaller')).toEqual(['send', 'mint']);
  });

  it('let reads be shared, and nothing that runs, sends or makes', () => {
    expect(having('shared')).toEqual(['fixed', 'epoch', 'head', 'pinned', 'growing', 'scan']);
  });

  it('let light reads alone be put to two nodes at once', () => {
    expect(having('hedged')).toEqual(['fixed', 'epoch', 'head', 'pinned', 'growing']);
  });

  it('allow one node only to what would happen twice', () => {
    expect(having('oneNode')).toEqual(['mint', 'unknown']);
    expect(having('hasEffect')).toEqual([...having('signed'), ...having('oneNode')]);
  });
});
