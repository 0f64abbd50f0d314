import { describe, expect, it } from 'vitest';
import type { ExecutedTransaction } from '../../../src/decoding/transaction/executed-transaction.ts';
import { parseEffects } from '../../../src/decoding/transaction/parse-transaction.ts';
import type { JsonMembers } from '../../../src/solana/encoding/read-json.ts';
import { assetOf, hasRecordings, readRecorded, scenario } from './recorded-transactions.ts';
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

  it('decodes tree creation', () => {
    const first = scenario('mint_delegate_transfer').flatMap(allActions);
    expect(typed(first, 'CREATE_TREE').info).toEqual({
      tree_authority: 'E9uEW5uMNDhLGracp5XtvarF3udV3p6hemoXfBDB82QF',
      merkle_tree: '2AsVtpcSDi4nUhMEvtZPApGvucu6kP4qrKV6SZ9hG3WT',
      payer: 'Fq4HDXfutKjEZ7zZP2JmKboSm2ZsYsKEJ7BLQAfrpNcc',
      tree_creator: 'Fq4HDXfutKjEZ7zZP2JmKboSm2ZsYsKEJ7BLQAfrpNcc',
      ...{ max_depth: 14, max_buffer_size: 64 },
    });
    const second = scenario('mint_v2_transfer_v2').flatMap(allActions);
    expect(typed(second, 'CREATE_TREE').info).toMatchObject({ max_depth: 3, max_buffer_size: 8 });
  });

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

describe.skipIf(!hasRecordings)(
  'recorded mints of compressed NFTs (../shared/data/rest, blockbuster-cnft)',
  () => {
    const mints = (file: string) =>
      parseEffects(readRecorded(`blockbuster-cnft/${file}.json`)).actions.filter(
        ({ type }) => type === 'COMPRESSED_NFT_MINT',
      );

    it('separates two mints of one transaction', () => {
      const both = mints('double_bubblegum_mint');
      const same = {
        tree_authority: 'BXNgnWuSf4qV34WuTZMYmHcd2P4fHrQNpUUDdRAJow7j',
        merkle_tree: 'APBGd5QtSg8PWxGK6pqzRpffBXknpHhMET1bzafLkysx',
        payer: '51HrvWtWjvrkw8F7y1Z3SMCLE9SAU9kfE8HNjn8XMBbu',
        owner: '7oo8EwP77tsJdtU8pV13FJag4PzafM8ZwhcwXGXQkRf',
      };
      const metadata = {
        ...{ symbol: 'TP1', sellerFeeBasisPoints: 0, primarySaleHappened: false, isMutable: true },
        ...{ editionNonce: 0, tokenStandard: { nonFungible: {} }, uses: null },
        ...{ tokenProgramVersion: { original: {} } },
        collection: { verified: true, key: 'EpbHnATobvsAeS864EpX1TKzUyxEADvUAF17LFHJYYwK' },
        creators: [{ address: '51HrvWtWjvrkw8F7y1Z3SMCLE9SAU9kfE8HNjn8XMBbu', verified: true, share: 100 }],
      };
      // IDs come from the leaf events at 2 and 7.
      expect(both.map(({ ix_index }) => ix_index)).toEqual([0, 5]);
      expect(both.map(({ info }) => info)).toMatchObject([
        {
          ...{ ...same, nft_address: 'HRCSQUQJviGdQLBSAGc1fXmcHrnEtENdDfx2UkSyNokv' },
          nft_metadata: { ...metadata, name: 'Test Sticker #1' },
        },
        {
          ...{ ...same, nft_address: 'CYQmG8Qwrx5zEgkcMkoHod4bUqnZbThSYYM4zquBBQJz' },
          nft_metadata: { ...metadata, name: 'Test Sticker #2' },
        },
      ]);
      expect(both.every((action) => action.parent_protocol === undefined)).toBe(true);
    });

    it('separates mints in two trees under one instruction', () => {
      expect(mints('helium_mint_double_tree')).toMatchObject([
        {
          info: {
            merkle_tree: 'C9gqeeZZFMUFQBZ2X6MoFVn1sUhphkwQ4BKwGqktu9RR',
            nft_address: '7NZUvkKBZVWx9eDrCNvaj4cAfi3HWjjuHxxu1FAgTWkm',
            owner: 'Azot2AdxKJvdjLZEbDrCzktwdU238fazRmGCGZqGQeKa',
            nft_metadata: { name: 'powerful-wintergreen-locust', symbol: 'HOTSPOT' },
          },
          ...{ parent_protocol: '1atrmQs3eq1N2FEYWu6tyTXbCjP4uQwExpjtnhXtS8h', ix_index: 6 },
        },
        {
          info: {
            merkle_tree: '9Yn32WbXK8JTVFpx5CGFrPKqbeQ7LE1UZi5bG7k9P4Rv',
            nft_address: 'dBtd4R9HU7j6FXwtpE8DuCojEM5mHNUTy6uuHhq4tx6',
            owner: '4FxSjPMGUR1dBJwmo5DrSxYpNYHWjgBC8sKnuXtHvqoU',
            nft_metadata: { name: 'modern-velvet-caterpillar', symbol: 'HOTSPOT' },
          },
          ...{ parent_protocol: '1atrmQs3eq1N2FEYWu6tyTXbCjP4uQwExpjtnhXtS8h', ix_index: 14 },
        },
      ]);
    });

    it('decodes a mint called by another program', () => {
      expect(mints('helium_nested')).toMatchObject([
        {
          info: {
            payer: 'devTUdgycPzE5WKyeokLp9txGo7ohmxZxNYUkVDpwuZ',
            merkle_tree: '9U25LLcQGBnv62FytjHDkkJzYz27npSBCc5Xsbhe84Gx',
            nft_address: 'HccdnUhvwWX73HNuSPfZsx5AbYZnzeLzeNsuNojLyy84',
            owner: 'devTUdgycPzE5WKyeokLp9txGo7ohmxZxNYUkVDpwuZ',
            nft_metadata: { name: 'savory-butter-shetland', creators: [] },
          },
          ...{ parent_protocol: 'hemABtqNUst4MmqsVcuN217ZzBspENbGt9uueSe5jts', ix_index: 7 },
        },
      ]);
    });
  },
);
