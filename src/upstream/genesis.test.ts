import { describe, expect, it } from 'vitest';
import { selectChain } from './genesis.ts';
import { genesisHashes } from './genesis-hash.ts';

const { devnet } = genesisHashes;
const right = (...hashes: string[]): string | null => selectChain(hashes, devnet);

describe('selectChain', () => {
  it('selects the well-known chain without a majority', () => {
    expect(right('own', devnet)).toBe(devnet);
    expect(right('a', devnet, 'b')).toBe(devnet);
  });

  it('otherwise selects the largest group, or else the first node', () => {
    expect(right('a', 'b')).toBe('a');
    expect(right('b', 'a')).toBe('b');
    expect(right('a', 'b', 'c')).toBe('a');
    expect(right('a', 'b', 'c', 'b', 'd')).toBe('b');
  });
});
