import { describe, expect, it } from 'vitest';
import { writeJson } from '../../../src/base/json.ts';
import { type Address, address } from '../../../src/solana/address.ts';
import { programs } from '../../../src/solana/programs.ts';
import { bytesOf } from '../../parsed/rows/row.ts';
import { accountsOf, assetOf, dataOf, keyTokens, marketplaces } from './instruction-rows.ts';
import { actionsOf, allActions, executedTransaction, holding, someone } from './transaction-builder.ts';

const { bubblegum } = marketplaces;
const metadata = address('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');
const noop = address('noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV');

const json = (value: unknown): unknown => JSON.parse(writeJson(value as never));

/** Interface: metaplex-foundation/mpl-token-metadata c314930, idls/token_metadata.json. */
describe('Token Metadata', () => {
  const [mint, holder, owner] = [someone(2), someone(3), someone(4)];
  const made = { tokenAccounts: [holding(holder, mint, owner, [0n, 1n])] };

  /** Instruction by number, with mint and metadata at the positions of the IDL. */
  const call = (number: number, names: string, rest: readonly number[] = []) => {
    const { accounts, at } = accountsOf(names, metadata);
    const placed = new Map([
      [at.mint, mint],
      [at.metadata, someone(5)],
      [at.group, someone(6)],
      [at.wallet, someone(7)],
    ]);
    return {
      program: metadata,
      accounts: accounts.map((account) => placed.get(account) ?? account),
      data: Uint8Array.of(number, ...rest),
    };
  };

  const create = call(33, 'metadata mint');
  const master = call(17, '1 mint 3 metadata', [0]);
  const verify = call(18, 'metadata 2 group');
  const minted = {
    ...{ nft_address: mint, amount: 1, amount_raw: 1, owner_associated_account: holder, owner },
    collection_address: null,
  };
  const mintedBy = (...calls: (typeof create)[]) => allActions(executedTransaction(calls, made));

  it('reports a minted NFT once, by the instruction that completes it', () => {
    expect(json(mintedBy(create, master))).toEqual([{ at: 1, type: 'NFT_MINT', info: minted }]);
  });

  it.each([
    ['VerifyCollection', call(18, 'metadata 2 group'), true],
    ['SetAndVerifyCollection', call(25, 'metadata 3 group'), true],
    ['VerifySizedCollectionItem', call(30, 'metadata 2 group'), true],
    ['SetAndVerifySizedCollectionItem', call(32, 'metadata 3 group'), true],
    ['Verify', call(52, '2 metadata group', [1]), true],
    ['Verify of a creator', call(52, '2 metadata group', [0]), false],
    ['VerifyCollection of another NFT', call(18, 'other 2 group'), false],
  ])('takes the collection verified by %s', (name, verified, isTaken) => {
    const [decoded, ...others] = mintedBy(create, master, verified);
    expect(others).toEqual([]);
    expect(decoded?.info.collection_address).toBe(isTaken ? someone(6) : null);
    const isOwn = !name.endsWith('another NFT');
    expect(actionsOf(executedTransaction([create, master, verified], made), 2)).toEqual(isOwn ? [] : null);
  });

  it.each([
    ['CreateMetadataAccount', call(0, 'metadata mint')],
    ['CreateMetadataAccountV2', call(16, 'metadata mint')],
    ['CreateMetadataAccountV3', create],
    ['CreateMasterEdition', call(10, '1 mint 3 metadata')],
    ['CreateMasterEditionV3', master],
    ['MintNewEditionFromMasterEditionViaToken', call(11, 'metadata 2 mint')],
    ['MintNewEditionFromMasterEditionViaVaultProxy', call(13, 'metadata 2 mint')],
    ['Mint', call(43, '2 metadata 2 mint', [0])],
    ['Print', call(55, 'metadata 1 mint')],
  ])('decodes an NFT minted by %s', (_, instruction) => {
    const decoded = actionsOf(executedTransaction([instruction], made));
    expect(json(decoded)).toEqual([{ type: 'NFT_MINT', info: minted }]);
    const [vouched] = mintedBy(instruction, verify);
    expect(vouched?.info.collection_address).toBe(someone(6));
  });

  it.each([
    ['the supply exceeds one', holding(holder, mint, owner, [0n, 2n])],
    ['the token existed before', holding(holder, mint, owner, [1n, 1n])],
    ['the token is divisible', holding(holder, mint, owner, [0n, 1n], 6)],
  ])('reports no mint when %s', (_, account) => {
    expect(allActions(executedTransaction([create, master], { tokenAccounts: [account] }))).toEqual([]);
    expect(allActions(executedTransaction([create, master], { ...made, err: 'failed' }))).toEqual([]);
  });

  it('hides setup of a new token and leaves other instructions UNKNOWN', () => {
    const fresh = call(42, 'metadata 1 mint', [0]);
    const parsed = { type: 'initializeMint2', info: { mint, decimals: 6 } };
    const initialize = { program: programs.token, data: Uint8Array.of(20), parsed };
    expect(actionsOf(executedTransaction([fresh, initialize]))).toEqual([]);
    expect(actionsOf(executedTransaction([create, initialize]))).toEqual([]);
    const none = { ...create, data: new Uint8Array(0) };
    for (const unknown of [fresh, create, verify, call(26, '3 mint'), call(200, 'metadata mint'), none]) {
      expect(actionsOf(executedTransaction([unknown]))).toBeNull();
    }
  });

  const burns = { type: 'NFT_BURN', info: { wallet: someone(7), nft_address: mint, amount: 1 } };
  const moved = { receiver: someone(7), nft_address: mint, amount: 1 };
  it.each([
    ['Burn', call(41, 'wallet 3 mint 1'), burns],
    ['BurnNft', call(29, 'metadata wallet mint'), burns],
    ['BurnEditionNft', call(37, 'metadata wallet mint'), burns],
    ['Transfer', call(49, '1 sender destination wallet mint'), { type: 'NFT_TRANSFER', info: moved }],
  ])(
    'leaves %s to the token program, and reports it without inner instructions',
    (_, instruction, action) => {
      const inner = { outer: 0, height: 2, parentProgram: metadata, program: programs.token };
      const innerOf = (caller: number) =>
        actionsOf(executedTransaction([instruction, { ...inner, caller, data: Uint8Array.of(8) }]));
      expect(innerOf(0)).toEqual([]);
      expect(innerOf(5)).toMatchObject([action]);
      expect(actionsOf(executedTransaction([instruction]))).toMatchObject([action]);
    },
  );
});

/** Interface: metaplex-foundation/mpl-bubblegum 575f729, idls/bubblegum.json. */
describe('Bubblegum', () => {
  const leaf = (id: Address, owner: Address, nonce = 77): Uint8Array => {
    const schema = bytesOf(`1 0 0 ${keyTokens(id)} ${keyTokens(owner)} ${keyTokens(owner)} ${nonce}:64 96*0`);
    return Buffer.concat([bytesOf(`1 0 ${schema.length}:32`), schema]);
  };

  const head = "32'Nämé' 32'' 32'https://a.b' 500:16 0 1";
  const creators = '1:32 @7 1 100';
  const uses = '1 2 3:64 1152921504606846976:64';
  const { accounts, at } = accountsOf('admin owner 1 tree payer', bubblegum);
  const asset = assetOf(at.tree as Address);
  const data = dataOf('mint_v1', `${head} 1 7 1 0 1 0 @6 ${uses} 0 ${creators}`);
  const mint = { program: bubblegum, accounts, data };
  const received = (bytes: Uint8Array, position: object = {}) => ({
    ...{ outer: 0, height: 2, caller: 0, parentProgram: bubblegum, program: noop, data: bytes },
    ...position,
  });

  const shownHead = {
    ...{ name: 'Nämé', symbol: '', uri: 'https://a.b', sellerFeeBasisPoints: 500 },
    ...{ primarySaleHappened: false, isMutable: true },
  };
  const shownCreators = [{ address: someone(7), verified: true, share: 100 }];

  it.each([
    [
      'mint_v1',
      'admin owner 1 tree payer',
      `${head} 1 7 1 0 1 0 @6 ${uses} 0 ${creators}`,
      {
        ...{ editionNonce: 7, tokenStandard: { nonFungible: {} }, tokenProgramVersion: { original: {} } },
        collection: { verified: false, key: someone(6) },
        uses: { useMethod: { single: {} }, remaining: 3, total: 1152921504606847000 },
      },
    ],
    [
      'mint_to_collection_v1',
      'admin owner 1 tree payer',
      `${head} 0 0 1 0 @6 0 1 ${creators}`,
      {
        ...{ editionNonce: null, tokenStandard: null, tokenProgramVersion: { token2022: {} }, uses: null },
        collection: { verified: true, key: someone(6) },
      },
    ],
    [
      'mint_v2',
      'admin payer 2 owner 1 tree',
      `${head} 1 3 ${creators} 1 @6`,
      {
        ...{ editionNonce: null, tokenStandard: { nonFungibleEdition: {} }, tokenProgramVersion: null },
        ...{ collection: { verified: true, key: someone(6) }, uses: null },
      },
    ],
  ])('decodes %s with its metadata', (name, names, args, rest) => {
    const named = accountsOf(names, bubblegum);
    const { admin, tree, payer, owner } = named.at;
    const instruction = { program: bubblegum, accounts: named.accounts, data: dataOf(name, args) };
    const id = assetOf(tree as Address);
    const decoded = actionsOf(executedTransaction([instruction, received(leaf(id, owner as Address))]));
    const info = { tree_authority: admin, merkle_tree: tree, payer, nft_address: id, owner };
    const nft_metadata = { ...shownHead, creators: shownCreators, ...rest };
    expect(json(decoded)).toEqual([
      { type: 'COMPRESSED_NFT_MINT', info: { ...info, update_authority: admin, nft_metadata } },
    ]);
  });

  it('rejects leaf events of another tree or caller, and other data', () => {
    const nameOf = (...calls: ReturnType<typeof received>[]) =>
      actionsOf(executedTransaction([mint, ...calls]))?.[0]?.info.nft_address;
    const event = leaf(asset, someone(3));
    expect(nameOf(received(event))).toBe(asset);
    expect(nameOf(received(leaf(assetOf(someone(8)), someone(3))))).toBeNull();
    expect(nameOf(received(leaf(asset, someone(3), 78)))).toBeNull();
    expect(nameOf(received(event, { caller: 7 }))).toBeNull();
    expect(nameOf(received(event, { outer: 1 }))).toBeNull();
    expect(nameOf(received(event.subarray(0, 60)))).toBeNull();
    expect(nameOf()).toBeNull();
    // Without heights, the first leaf event before the next Bubblegum instruction counts.
    const flat = { height: null, caller: 0 };
    expect(nameOf(received(Uint8Array.of(0, 0)), received(event, flat))).toBe(asset);
    const next = { ...received(mint.data, flat), program: bubblegum };
    expect(nameOf(next, received(event, flat))).toBeNull();
  });

  it.each(['2147483648:32', "32'' 32'' 32'' 0:16 0 0 0 1 9", '1:32 65'])(
    'leaves a mint with the invalid metadata %s UNKNOWN',
    (args) => {
      expect(actionsOf(executedTransaction([{ ...mint, data: dataOf('mint_v1', args) }]))).toBeNull();
    },
  );

  it('hides tree operations called by other programs', () => {
    const compression = address('cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK');
    const append = { program: compression, data: dataOf('append', '32*0') };
    expect(actionsOf(executedTransaction([{ ...append, outer: 0, caller: 3, height: 2 }]))).toEqual([]);
    expect(actionsOf(executedTransaction([append]))).toBeNull();
    expect(actionsOf(executedTransaction([{ program: noop, data: new Uint8Array(3) }]))).toEqual([]);
  });
});
