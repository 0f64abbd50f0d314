import { describe, expect, it } from 'vitest';
import type { Network } from '../protocol/call.ts';
import { markWrongChains, selectChain } from './genesis.ts';
import { genesisHashes, genesisHashesWith } from './genesis-hash.ts';
import type { UpstreamNode } from './node.ts';

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

describe('markWrongChains', () => {
  const wrongOn = (network: string, custom: Readonly<Record<string, string>>, ...hashes: string[]) => {
    const nodes = hashes.map((genesisHash) => ({ genesisHash, wrongChain: false }) as UpstreamNode);
    const chains = markWrongChains(nodes, network as Network, genesisHashesWith(custom));
    return [nodes.map(({ wrongChain }) => wrongChain), chains?.size ?? 0];
  };

  it('accepts only the configured chain of a custom network, although most nodes are on another', () => {
    expect(wrongOn('staging', { staging: 'own' }, 'a', 'a', 'own')).toEqual([[true, true, false], 0]);
    expect(wrongOn('staging', { staging: 'own' }, 'a', 'b')).toEqual([[true, true], 0]);
  });

  it('selects the chain of other networks from what their nodes report', () => {
    expect(wrongOn('staging', { staging: '' }, 'a', 'a', 'b')).toEqual([[false, false, true], 0]);
    expect(wrongOn('constructor', {}, 'a', 'b')).toEqual([[false, true], 2]);
    expect(wrongOn('devnet', {}, 'a', 'a', devnet)).toEqual([[false, false, true], 0]);
  });
});
