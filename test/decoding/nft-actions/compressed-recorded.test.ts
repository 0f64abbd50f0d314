import { describe, expect, it } from 'vitest';
import type { ExecutedTransaction } from '../../../src/decoding/transaction/executed-transaction.ts';
import { parseEffects } from '../../../src/decoding/transaction/parse-transaction.ts';
import type { JsonMembers } from '../../../src/solana/encoding/read-json.ts';
import { assetOf, hasRecordings, scenario } from './recorded-scenarios.ts';
import { allActions } from './transaction-builder.ts';

type Decoded = ReturnType<typeof allActions>[number];

const typed = (actions: readonly Decoded[], type: string): Decoded => {
  const found = actions.filter((action) => action.type === type);
  expect(found).toHaveLength(1);
  return found[0] as Decoded;
};

/** Mint scenarios of metaplex/transactions.json, with their actions. */
const scenarios: readonly (readonly [string, readonly string[]])[] = [
  ['mint_redeem', []],
  ['asset_decompress', []],
  ['mint_verify_creator', ['CREATE_TREE']],
  ['cnft_scenario_mint_update_metadata', ['CREATE_TREE']],
  ['mint_transfer_noop', ['COMPRESSED_NFT_TRANSFER', 'COMPRESSED_NFT_TRANSFER']],
  ['mint_delegate_transfer', ['COMPRESSED_NFT_TRANSFER', 'CREATE_TREE']],
  ['mint_transfer_burn', ['COMPRESSED_NFT_BURN', 'COMPRESSED_NFT_TRANSFER', 'CREATE_TREE']],
  ['update_metadata_v2_new_name_new_uri', ['CREATE_TREE']],
  ['mint_v2_to_collection_only', ['CREATE_TREE']],
  ['mint_v2_not_to_collection', ['CREATE_TREE']],
  ['delegate_v2', ['CREATE_TREE']],
  ['change_collection_using_set_collection_v2', ['CREATE_TREE']],
  ['set_non_transferable_v2', ['CREATE_TREE']],
  ['freeze_v2_using_permanent_delegate', ['CREATE_TREE']],
  ['mint_v2_transfer_v2', ['COMPRESSED_NFT_TRANSFER', 'CREATE_TREE']],
  ['thaw_and_revoke_v2', ['CREATE_TREE']],
];

/** Scenarios that change or decompress the asset after minting. */
const changed: ReadonlySet<string> = new Set([
  ...['update_metadata_v2_new_name_new_uri', 'cnft_scenario_mint_update_metadata'],
  ...['mint_verify_creator', 'change_collection_using_set_collection_v2'],
  'asset_decompress',
]);

const members = (value: unknown): JsonMembers => value as JsonMembers;

describe.skipIf(!hasRecordings)('recorded compressed NFTs (../shared/data/rest/metaplex)', () => {
  it.each(scenarios)('decodes every action in %s', (name, others) => {
    const types = scenario(name).flatMap((transaction) => allActions(transaction).map(({ type }) => type));
    expect(types.sort()).toEqual(['COMPRESSED_NFT_MINT', ...others].sort());
  });

  it.each(scenarios)('decodes asset, tree and authority of %s as DAS does', (name) => {
    const asset = assetOf(name);
    const [authority] = asset.authorities as JsonMembers[];
    for (const { type, info } of scenario(name).flatMap(allActions)) {
      expect(info.merkle_tree).toBe(
        name === 'asset_decompress' ? info.merkle_tree : members(asset.compression).tree,
      );
      if (type === 'CREATE_TREE') expect(info.tree_authority).toBe(authority?.address);
      else expect(info.nft_address).toBe(asset.id);
      // A decompressed asset has its own authority.
      if (name !== 'asset_decompress') expect(info.tree_authority).toBe(authority?.address);
    }
  });

  it.each(scenarios.filter(([name]) => !changed.has(name)))(
    'decodes the metadata of %s as DAS does',
    (name) => {
      const asset = assetOf(name);
      const { info } = typed(scenario(name).flatMap(allActions), 'COMPRESSED_NFT_MINT');
      const metadata = members(info.nft_metadata);
      const content = members(asset.content);
      expect(metadata.name).toBe(members(content.metadata).name);
      expect(metadata.symbol).toBe(members(content.metadata).symbol);
      expect(metadata.uri).toBe(content.json_uri);
      expect(metadata.sellerFeeBasisPoints).toBe(members(asset.royalty).basis_points);
      expect(metadata.primarySaleHappened).toBe(members(asset.royalty).primary_sale_happened);
      expect(metadata.isMutable).toBe(asset.mutable);
      expect(metadata.creators).toEqual(asset.creators);
      const collection = (asset.grouping as JsonMembers[]).find(
        ({ group_key }) => group_key === 'collection',
      );
      const claimed = collection === undefined ? null : { verified: true, key: collection.group_value };
      expect(metadata.collection).toEqual(claimed);
    },
  );

  it.each(['mint_transfer_noop', 'mint_delegate_transfer', 'mint_transfer_burn', 'mint_v2_transfer_v2'])(
    'tracks the owner through %s',
    (name) => {
      const actions = scenario(name).flatMap(allActions);
      const { info } = typed(actions, 'COMPRESSED_NFT_MINT');
      const transfers = actions.filter(({ type }) => type === 'COMPRESSED_NFT_TRANSFER');
      let owner = info.owner;
      while (transfers.length > 0) {
        const at = transfers.findIndex((one) => one.info.sender === owner);
        expect(at, `nobody sends from ${String(owner)}`).toBeGreaterThanOrEqual(0);
        owner = transfers.splice(at, 1)[0]?.info.receiver;
      }
      expect(owner).toBe(members(assetOf(name).ownership).owner);
      const burn = actions.find(({ type }) => type === 'COMPRESSED_NFT_BURN');
      expect(burn?.info.owner ?? owner).toBe(owner);
      expect(burn !== undefined).toBe(assetOf(name).burnt);
    },
  );

  it('shows a decompressed NFT as a mint by Bubblegum', () => {
    const decompress = scenario('asset_decompress').find(({ logs }) =>
      logs.includes('Program log: Instruction: DecompressV1'),
    ) as ExecutedTransaction;
    const [made] = [...decompress.tokenAccounts.values()];
    // The recording lacks token balances; the log of MintTo shows one token.
    const held = new Map([[made!.address, { ...made!, before: 0n, after: 1n }]]);
    const { actions } = parseEffects({ ...decompress, tokenAccounts: held });
    const mint = actions.find(({ type }) => type === 'NFT_MINT');
    expect(mint).toMatchObject({
      info: {
        nft_address: assetOf('asset_decompress').id,
        owner: members(assetOf('asset_decompress').ownership).owner,
      },
      parent_protocol: 'BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY',
    });
  });
});
