import { describe, expect, it } from 'vitest';
import { parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import { address } from '../../solana/address.ts';
import type { FoundNft, OnChainNft } from './nft.ts';
import { type NftContent, readNftContent } from './nft-content.ts';
import { showNft } from './show-nft.ts';

const mint = address('9MvJiavBVtL4cbxNG9AnCA722GUETmYAL3kQpQY4wovC');
const owner = address('3bRB21mj2t279iYufzjmJoupUbsrCVDHgUzgWzACHrJu');

const onChain: OnChainNft = {
  mint,
  name: 'FOX',
  symbol: 'VI_AFX',
  metadataUri: 'https://json',
  royaltyBasisPoints: 555,
  owner,
  updateAuthority: mint,
  creators: [{ address: owner, share: 100, verified: true }],
  collection: null,
  traits: [],
  primarySaleHappened: false,
  isMutable: true,
  tokenStandard: 'NonFungible',
  merkleTree: null,
  isBurnt: false,
};

const found = (more: Partial<OnChainNft> = {}, rest: Partial<FoundNft> = {}): FoundNft => ({
  onChain: { ...onChain, ...more },
  content: null,
  tokenAccount: null,
  tokenRecord: null,
  ...rest,
});

const content = (json: WritableJson): NftContent => readNftContent(parseJson(writeJson(json)))!;

describe('rendered NFT', () => {
  it('has the members in interface order, empty without off-chain JSON', () => {
    expect(writeJson(showNft(found(), null))).toBe(
      writeJson({
        name: 'FOX',
        symbol: 'VI_AFX',
        royalty: 5.55,
        image_uri: '',
        cached_image_uri: '',
        animation_url: '',
        cached_animation_url: '',
        metadata_uri: 'https://json',
        description: '',
        mint,
        owner,
        update_authority: mint,
        creators: [{ address: owner, share: 100, verified: true }],
        collection: {},
        attributes: {},
        attributes_array: [],
        files: [],
        external_url: '',
        is_loaded_metadata: false,
        primary_sale_happened: false,
        is_mutable: true,
        token_standard: 'NonFungible',
        is_compressed: false,
        merkle_tree: '',
        is_burnt: false,
      }),
    );
  });

  it('includes the off-chain JSON', () => {
    const json = {
      image: 'https://i',
      animation_url: 'https://a',
      external_url: 'https://e',
      description: 'Fox',
      attributes: [{ trait_type: 'a', value: 1 }],
      properties: { files: [{ uri: 'https://i', type: 'image/png' }] },
    };
    expect(showNft(found(), content(json))).toMatchObject({
      ...{ image_uri: 'https://i', cached_image_uri: 'https://i' },
      ...{ animation_url: 'https://a', cached_animation_url: 'https://a' },
      ...{ external_url: 'https://e', description: 'Fox', is_loaded_metadata: true },
      ...{ attributes: { a: 1 }, attributes_array: [{ trait_type: 'a', value: 1 }] },
      files: [{ uri: 'https://i', type: 'image/png' }],
    });
  });

  it('builds the attribute list from the map, so that the later duplicate counts', () => {
    const attributes = ['1', '2', '3'].map((value) => ({ trait_type: value === '2' ? 'b' : 'a', value }));
    expect(showNft(found(), content({ attributes }))).toMatchObject({
      attributes: { a: '3', b: '2' },
      attributes_array: [
        { trait_type: 'a', value: '3' },
        { trait_type: 'b', value: '2' },
      ],
    });
  });

  it('shows on-chain traits without off-chain JSON and lets them override it', () => {
    const nft = found({ traits: [{ trait: 'level', value: '7' }] });
    expect(showNft(nft, null).attributes).toEqual({ level: '7' });
    const attributes = [{ trait_type: 'level', value: '99' }];
    expect(showNft(nft, content({ attributes })).attributes_array).toEqual([
      { trait_type: 'level', value: '7' },
    ]);
  });

  it('accepts any trait name and has no inherited ones', () => {
    const attributes = ['__proto__', 'constructor', 'toString'].map((trait_type) => ({
      trait_type,
      value: 'x',
    }));
    const shown = showNft(found(), content({ attributes }));
    expect(writeJson(shown.attributes)).toBe('{"__proto__":"x","constructor":"x","toString":"x"}');
    expect(shown.attributes_array).toHaveLength(3);
    expect(Object.getPrototypeOf(shown.attributes)).toBeNull();
    expect(({} as { x?: string }).x).toBeUndefined();
  });

  it('names the collection from the chain, else from the off-chain JSON', () => {
    const offChain = content({ collection: { name: 'Foxes', family: 'Canidae' } });
    expect(showNft(found(), offChain).collection).toEqual({ name: 'Foxes', family: 'Canidae' });
    const unnamed = found({ collection: { address: mint, verified: false } });
    expect(showNft(unnamed, null).collection).toEqual({ address: mint, verified: false });
    expect(writeJson(showNft(unnamed, offChain).collection)).toBe(
      writeJson({ address: mint, verified: false, name: 'Foxes', family: 'Canidae' }),
    );
    const named = found({ collection: { address: mint, verified: true, name: 'Real' } });
    expect(showNft(named, offChain).collection).toEqual({
      ...{ address: mint, verified: true, name: 'Real', family: 'Canidae' },
    });
  });

  it('reports compressed, burnt and ownerless NFTs', () => {
    const nft = found({ merkleTree: owner, isBurnt: true, owner: null, updateAuthority: null });
    expect(showNft(nft, null)).toMatchObject({
      ...{ is_compressed: true, merkle_tree: owner, is_burnt: true, owner: '', update_authority: '' },
    });
  });

  it('appends the token record when requested', () => {
    const tokenRecord = {
      address: mint,
      key: 'TokenRecord',
      state: 'Listed' as const,
      rule_set_revision: 2n ** 64n - 1n,
      delegate: owner,
      token_delegate_role: 'Sale',
      locked_transfer: null,
    };
    const text = writeJson(showNft(found({}, { tokenRecord }), null));
    expect(text.endsWith(`"token_record":${writeJson(tokenRecord)}}`)).toBe(true);
    expect(text).toContain('"rule_set_revision":18446744073709551615');
  });
});
