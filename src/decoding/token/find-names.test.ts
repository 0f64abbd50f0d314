import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import { address } from '../../solana/address.ts';
import { nativeMint, nativeMint2022, programs } from '../../solana/programs.ts';
import type { OnChainNft } from '../nft/nft.ts';
import { findNames, isNamed, namingLimits, unnamedToken } from './find-names.ts';
import { noTokenList } from './token-list.ts';

const MINT = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const URI = 'https://example.org/token.json';
const signal = new AbortController().signal;

const metadataOf = (fields: Partial<OnChainNft>): OnChainNft => ({
  ...{ mint: MINT, name: 'Token', symbol: 'TKN', metadataUri: URI, royaltyBasisPoints: 0, owner: null },
  ...{ updateAuthority: null, creators: [], collection: null, traits: [], primarySaleHappened: false },
  ...{ isMutable: true, tokenStandard: 'Fungible', merkleTree: null, isBurnt: false },
  ...fields,
});

function documents(at: { [uri: string]: JsonValue } = {}) {
  const requested: string[] = [];
  const read = async (uris: Iterable<string>) => {
    requested.push(...uris);
    return new Map(Object.entries(at));
  };
  return { requested, read, isLoading: () => false };
}

async function named(fields: Partial<OnChainNft>, document?: JsonValue) {
  const offChain = documents(document === undefined ? {} : { [URI]: document });
  const tokens = [{ address: MINT, metadata: metadataOf(fields) }];
  return (await findNames(tokens, { tokenList: noTokenList, offChain }, signal)).get(MINT);
}

describe('token name from metadata', () => {
  it('is cut to whole characters and trimmed', async () => {
    const long = { name: `${'n'.repeat(namingLimits.nameMax - 1)}😀`, symbol: ` ${'s'.repeat(100)} ` };
    const name = await named(long);
    expect(name?.name).toBe(`${'n'.repeat(namingLimits.nameMax - 1)}\ufffd`);
    expect(name?.symbol).toBe('s'.repeat(namingLimits.symbolMax - 1));
  });

  it('counts as missing when blank', async () => {
    expect(await named({ name: '', symbol: '  ' })).toEqual(unnamedToken);
  });
});

describe('token image', () => {
  it('comes from the off-chain document', async () => {
    expect((await named({}, { image: 'https://example.org/a.png' }))?.image).toBe(
      'https://example.org/a.png',
    );
  });

  it.each([
    ['a document of another type', 7],
    ['an image of another type', { image: { uri: 'x' } }],
    ['an image longer than the limit', { image: `data:${'a'.repeat(namingLimits.imageMax)}` }],
  ])('is empty for %s', async (_what, document) => {
    expect((await named({}, document))?.image).toBe('');
  });

  it('is read for a limited number of tokens, in one call', async () => {
    const tokens = Array.from({ length: namingLimits.documentsMax + 5 }, (_, n) => ({
      address: address(
        `${MINT.slice(0, -3)}${'123456789'[n % 9]}${'ABCDEFGH'[Math.floor(n / 9) % 8]}${'abcdefgh'[Math.floor(n / 72)]}`,
      ),
      metadata: metadataOf({ metadataUri: `https://example.org/${n}` }),
    }));
    const offChain = { ...documents(), isLoading: () => true };
    const names = await findNames(tokens, { tokenList: noTokenList, offChain }, signal);
    expect(names.size).toBe(tokens.length);
    expect(offChain.requested).toHaveLength(namingLimits.documentsMax);
    const loading = [...names.values()].filter(({ isLoading }) => isLoading === true);
    expect(loading).toHaveLength(namingLimits.documentsMax);
  });
});

describe('token list', () => {
  const offChain = documents({ [URI]: { image: 'https://example.org/a.png' } });
  const listed = { name: 'Listed', symbol: 'LST', image: '' };
  const list = { find: (mint: string) => (mint === MINT ? listed : null) };

  it('names a token whose image comes from the document', async () => {
    const names = await findNames(
      [{ address: MINT, metadata: metadataOf({}) }],
      { tokenList: list, offChain },
      signal,
    );
    expect(names.get(MINT)).toEqual({ ...listed, image: 'https://example.org/a.png' });
    expect(isNamed(MINT, list)).toBe(false);
  });

  it('is not needed for wrapped SOL of either program', async () => {
    for (const mint of [nativeMint, nativeMint2022]) {
      expect(isNamed(mint, noTokenList)).toBe(true);
      const names = await findNames(
        [{ address: mint, metadata: null }],
        { tokenList: list, offChain },
        signal,
      );
      expect(names.get(mint)).toEqual({ name: 'Wrapped SOL', symbol: 'SOL', image: '' });
    }
    expect(isNamed(programs.token, noTokenList)).toBe(false);
  });
});
