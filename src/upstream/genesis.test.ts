import { describe, expect, it } from 'vitest';
import { genesisHashes, selectChain } from './genesis.ts';

const { devnet, testnet } = genesisHashes;
const right = (...hashes: string[]): string | null => selectChain(hashes, devnet);

describe('the chain of a network', () => {
  it('is open while nobody has spoken', () => {
    expect(right()).toBeNull();
  });

  it('is the one that all agree on, known or not', () => {
    expect(right('own', 'own')).toBe('own');
    expect(right(testnet)).toBe(testnet);
  });

  it('is that of the majority', () => {
    expect(right('own', testnet, 'own')).toBe('own');
    expect(right('own', devnet, 'own')).toBe('own');
  });

  it('is the known one when there is no majority', () => {
    expect(right('own', devnet)).toBe(devnet);
    expect(right('a', devnet, 'b')).toBe(devnet);
  });

  it('is that of the largest group, else of the first node, when nothing else decides: never two at once', () => {
    expect(right('a', 'b')).toBe('a');
    expect(right('b', 'a')).toBe('b');
    expect(right('a', 'b', 'c')).toBe('a');
    expect(right('a', 'b', 'c', 'b', 'd')).toBe('b');
  });
});
