import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../../packages/localnet/test/rig.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { Chain } from '../../../src/decoding/chain/chain.ts';
import { type CorePlugins, coreProgram, decodeCoreAccount } from '../../../src/decoding/nft/core-account.ts';
import { readDasAsset } from '../../../src/decoding/nft/das-assets.ts';
import { decodeMetaplexMetadata } from '../../../src/decoding/nft/metadata-accounts.ts';
import { metadataProgram } from '../../../src/decoding/nft/metaplex-addresses.ts';
import type { FoundNft, OnChainNft } from '../../../src/decoding/nft/nft.ts';
import { readNfts } from '../../../src/decoding/nft/read-nfts.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import type { Address } from '../../../src/solana/address.ts';
import { programs } from '../../../src/solana/programs.ts';
import { decodeMint, decodeTokenAccount } from '../../../src/solana/token/token-state.ts';
import { LedgerCaller } from '../../rest-api/ledger-caller.ts';
import {
  answersWithoutAssets,
  type DasAsset,
  isRecorded,
  recordedAccounts,
  recordedAssets,
  recordedScenarios,
} from './recorded-assets.ts';

/** Assets that cannot be compared, by reason. */
const incomparable = {
  'compressed, so that no account holds it': [
    'cnft_tests__cnft_scenario_mint_update_metadata: FLFoCw2RBbxiw9rbEeqPWJ5rasArD9kTCKWEJirTexsU',
    'cnft_tests__cnft_scenario_mint_update_metadata_remove_creators: Gi4fAXJdnWYrEPjQm3wnW9ctgG7zJjB67zHDQtRGRWyZ',
    'cnft_tests__mint_delegate_transfer: 77wWrvhgEkkQZQVA2hoka1JTsjG3w7BVzvcmqxDrVPWE',
    'cnft_tests__mint_redeem_cancel_redeem: 5WaPA7HLZKGg56bcKiroMXAzHmB1mdxK3QTeCDepLkiK',
    'cnft_tests__mint_transfer_burn: 8vw7tdLGE3FBjaetsJrZAarwsbc8UESsegiLyvWXxs5A',
    'cnft_tests__mint_transfer_noop: 7myVr8fEG52mZ3jAwgz88iQRWsuzuVR2nfH8n2AXnBxE',
    'cnft_tests__mint_verify_creator: 5rmTyghEuZhRTB77L3KqGMy6h5RpSNWNLj14avbxGNKB',
    'cnft_tests_v2_leaf_schema__change_collection_using_set_collection_v2: 7xNZ8rh4zH9EoACqEWymt5FSwgjbkDM1uFQ6MSB6kwc8',
    'cnft_tests_v2_leaf_schema__delegate_v2: 6F3Dv73qYxay78WtGMqjB4voY7E8GSmYvbq8nDNroAeC',
    'cnft_tests_v2_leaf_schema__freeze_v2_using_permanent_delegate: 9j8QfKwJvzjiHwcRyi1TCK7sZgm8iEBpGn8sRyGF5Wy8',
    'cnft_tests_v2_leaf_schema__mint_v2_not_to_collection: 8FD8ZTQtPzPzADnSUs1sb3vb54MxQ29mJkcEDTGzDANA',
    'cnft_tests_v2_leaf_schema__mint_v2_to_collection_only: HGu4vJMLCboGNNVnH6UXrQZKVVXBX4xMZFxfmFgQD9pG',
    'cnft_tests_v2_leaf_schema__mint_v2_transfer_v2: H98ZTBg5XdWRxt35XDznbX2Z1m7nCYeYqoBTdi5qAQBg',
    'cnft_tests_v2_leaf_schema__set_non_transferable_v2: 9JZWk34GEsxNWRF6XRxL6LYDhs5W7AuUVX2VHo9UV7ds',
    'cnft_tests_v2_leaf_schema__thaw_and_revoke_v2: J1iH8MiPeW6rFZP8hjM8PEXFAwaKpcHyb5mgsB1pji5r',
    'cnft_tests_v2_leaf_schema__update_metadata_v2_new_name_new_uri: 38pabFkaBAVUBwPotd1Wync8ECDbVe8iZLxJyDgZG8jo',
    'token_type_test__search_asset_with_token_type_compressed: 7myVr8fEG52mZ3jAwgz88iQRWsuzuVR2nfH8n2AXnBxE',
  ],
  'its account was not recorded': [
    'fungibles_and_token_extensions_tests__token_extensions_get_asset_scenario_3: 2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
    'mpl_core_tests__mpl_core_get_collection_with_bubblegum_v2_plugin: 5SW7HyPZx2vsVnA2vxxzAMZi51Tkc5v2LkXTxzx8ULAm',
    'mpl_core_tests__mpl_core_get_collection_with_linked_app_data_with_json_data_and_owner_is_data_authority: 2aUn89GKuSjfYTeCH6GL1Y6CiUYqjvcgZehFGDJbhNeW',
  ],
  'the account is of another time': [
    'account_update_tests__account_updates-metadata-updated: 843gdpsTE4DoJz3ZoBsEjAqT8UgAcyF5YojygGgGZE1f',
    'account_update_tests__account_updates-token-updated: 843gdpsTE4DoJz3ZoBsEjAqT8UgAcyF5YojygGgGZE1f',
    'account_update_tests__account_updates-with-all-updates: 843gdpsTE4DoJz3ZoBsEjAqT8UgAcyF5YojygGgGZE1f',
    'cnft_tests__mint_redeem: Az9QTysJj1LW1F7zkYF21HgBj3FRpq3zpxTFdPnAJYm8',
  ],
};

const named = new Set(Object.values(incomparable).flat());
const comparable = recordedAssets.filter(([name]) => !named.has(name));

const interfaces: Record<string, OnChainNft['tokenStandard']> = {
  FungibleToken: 'Fungible',
  MplCoreAsset: 'NonFungible',
  MplCoreCollection: 'NonFungible',
};

/** DAS lists the authority of Token-2022 mints elsewhere. */
const authorityOf = ({ mint_extensions, authorities }: DasAsset): string | null =>
  (mint_extensions?.metadata?.update_authority ?? authorities[0]?.address) || null;

const collectionOf = ({ grouping }: DasAsset) => {
  const group = grouping.find(({ group_key }) => group_key === 'collection');
  return group === undefined ? null : { address: group.group_value, verified: true };
};

/** DAS asset in the decoder's terms. */
const saidOf = (asset: DasAsset) => ({
  mint: asset.id,
  name: asset.content.metadata.name,
  symbol: asset.content.metadata.symbol,
  metadataUri: asset.content.json_uri,
  royaltyBasisPoints: asset.royalty.basis_points,
  owner: asset.ownership.owner || null,
  updateAuthority: authorityOf(asset),
  creators: asset.creators,
  collection: collectionOf(asset),
  traits: [],
  primarySaleHappened: asset.royalty.primary_sale_happened,
  isMutable: asset.mutable,
  tokenStandard: asset.content.metadata.token_standard ?? interfaces[asset.interface],
  merkleTree: asset.compression.tree || null,
  isBurnt: asset.burnt,
});

/** DAS omits collection names and unverified collections. */
function withoutUnsaid({ collection, ...rest }: OnChainNft) {
  const isSaid = collection?.verified === true;
  return { ...rest, collection: isSaid ? { address: collection.address, verified: true } : null };
}

/** Plugins in DAS form. */
const shownPlugins = (plugins: CorePlugins): Record<string, unknown> => ({
  // Autographs are not read.
  autograph: { signatures: [{ address: 'APrZTeVysBJqAznfLXS71NAzjr2fCVTSF1A66MeErzM7', message: 'hi' }] },
  edition: plugins.edition,
  royalties: plugins.royalties && {
    basis_points: plugins.royalties.basisPoints,
    creators: plugins.royalties.creators,
    rule_set: { program_deny_list: ['BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY'] },
  },
  update_delegate: plugins.updateDelegate && {
    additional_delegates: plugins.updateDelegate.additionalDelegates,
  },
  verified_creators: plugins.verifiedCreators && { signatures: plugins.verifiedCreators },
});

/** NFT of a recorded account; null when unreadable. */
function nftAt(at: Address, { owner, data }: Account): Address | null {
  if (owner === metadataProgram) return decodeMetaplexMetadata(data)?.mint ?? null;
  if (owner === coreProgram) return decodeCoreAccount(data) && at;
  return decodeMint(data) === null ? (decodeTokenAccount(data)?.mint ?? null) : at;
}

describe.skipIf(!isRecorded)('NFTs of real ledgers (../shared/data, metaplex)', () => {
  let rig: Rig;
  let found: Map<Address, FoundNft>;
  beforeAll(async () => {
    rig = await openRig({ accounts: [...recordedAccounts] });
    rig.freeze(2);
    const chain = new Chain('mainnet-beta', new LedgerCaller(rig));
    const ids = recordedAssets.map(([, { id }]) => id);
    found = await readNfts(chain, ids, null);
  });
  afterAll(() => rig.close());

  it('match DAS when read from accounts', () => {
    for (const [name, asset] of comparable) {
      const nft = found.get(asset.id);
      const said = saidOf(asset);
      // DAS calls every Token-2022 mint fungible.
      if (name.includes('token_extensions_get_asset_scenario_1')) said.tokenStandard = 'NonFungible';
      expect([name, nft && withoutUnsaid(nft.onChain)]).toEqual([name, said]);
    }
    expect(comparable.length).toBe(39);
    expect(new Set(comparable.map(([, { id }]) => id)).size).toBe(32);
  });

  it('are all compared, except for listed exceptions', () => {
    const names = new Map(recordedAssets);
    for (const name of incomparable['compressed, so that no account holds it']) {
      const asset = names.get(name);
      expect([name, asset?.compression.compressed]).toEqual([name, true]);
      expect(recordedAccounts.has(asset!.id)).toBe(false);
    }
    for (const name of incomparable['its account was not recorded']) {
      expect([name, recordedAccounts.has(names.get(name)!.id)]).toEqual([name, false]);
    }
    for (const name of incomparable['the account is of another time']) {
      const asset = names.get(name)!;
      expect(withoutUnsaid(found.get(asset.id)!.onChain)).not.toEqual(saidOf(asset));
    }
    expect(comparable.length + named.size).toBe(recordedAssets.length);
    expect(answersWithoutAssets).toEqual([
      'test_show_zero_balance_filter__show_zero_balance_filter_being_enabled',
      'token_accounts_tests__get_token_accounts_by_mint',
      'token_accounts_tests__get_token_accounts_by_owner',
    ]);
  });

  it('are read from the DAS responses', () => {
    for (const [name, asset] of recordedAssets) {
      const nft = readDasAsset(asset as unknown as JsonValue);
      const said = saidOf(asset);
      const updateAuthority = asset.authorities[0]?.address || null;
      const merkleTree = asset.compression.compressed ? said.merkleTree : null;
      const owner = asset.burnt ? null : said.owner;
      expect({ name, nft }).toEqual({
        name,
        nft: {
          onChain: { ...said, updateAuthority, merkleTree, owner },
          content: null,
          tokenAccount: null,
          tokenRecord: null,
        },
      });
    }
  });

  it('cover every recorded account, except for listed exceptions', () => {
    const compared = new Set<string>(comparable.map(([, { id }]) => id));
    const others = recordedScenarios.flatMap(([scenario, accounts]) => {
      const ids = accounts.map(([at, account]) => nftAt(at, account));
      expect(ids).not.toContain(null);
      return ids.some((id) => compared.has(id as string)) ? [] : [scenario];
    });
    const ofFungibles = [
      'token_keg_fungible_with_no_metadata',
      'get_token_accounts_by_owner',
      'get_token_accounts',
      'show_zero_balance_filter_being_enabled',
    ];
    // Collections whose NFTs are all compressed.
    const ofCollections = [
      'mint_v2_to_collection_only',
      'change_collection_using_set_collection_v2',
      'set_non_transferable_v2',
      'freeze_v2_using_permanent_delegate',
    ];
    expect(others.toSorted()).toEqual([...ofFungibles, ...ofCollections].sort());
  });

  it('have the plugins that DAS reports', () => {
    const seen = new Set<string>();
    for (const [name, { id, plugins = {} }] of comparable) {
      const account = recordedAccounts.get(id);
      const core = account?.owner === coreProgram ? decodeCoreAccount(account.data) : null;
      for (const [plugin, { data }] of Object.entries(plugins)) {
        seen.add(plugin);
        expect([name, shownPlugins(core?.plugins ?? {})[plugin]]).toEqual([name, data]);
      }
    }
    expect([...seen].sort()).toEqual([
      ...['autograph', 'edition', 'royalties', 'update_delegate', 'verified_creators'],
    ]);
  });

  it('are held by the recorded token accounts', () => {
    const held = [...found.values()].filter(({ tokenAccount }) => tokenAccount !== null);
    for (const { onChain, tokenAccount } of held) {
      const account = recordedAccounts.get(tokenAccount!);
      expect([onChain.mint, account?.owner]).toEqual([onChain.mint, programs.token]);
    }
    expect(held.length).toBeGreaterThan(5);
  });
});
