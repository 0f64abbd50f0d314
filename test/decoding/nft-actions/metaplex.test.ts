import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/base/bytes.ts';
import { type Address, address, addressBytes } from '../../../src/solana/address.ts';
import { findProgramAddress } from '../../../src/solana/program-address.ts';
import { programs } from '../../../src/solana/programs.ts';
import {
  accountsOf,
  actionsOf,
  allActions,
  anchorData,
  executedTransaction,
  holding,
  someone,
} from './transaction-builder.ts';

const metadata = address('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');
const core = address('CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d');
const bubblegum = address('BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY');
const noop = address('noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV');

const one = (info: unknown): unknown => JSON.parse(JSON.stringify(info));

/** Interface: metaplex-foundation/mpl-token-metadata c314930, idls/token_metadata.json. */
describe('Token Metadata', () => {
  const [mint, holder, owner] = [someone(2), someone(3), someone(4)];
  const made = { tokenAccounts: [holding(holder, mint, owner, [0n, 1n])] };

  /** Instruction by number, with mint and metadata at the positions of the IDL. */
  const call = (number: number, names: string, rest: readonly number[] = []) => {
    const { accounts, at } = accountsOf(names, metadata);
    const placed = accounts.map((account) =>
      account === at.mint ? mint : account === at.metadata ? someone(5) : account,
    );
    return { program: metadata, accounts: placed, data: Uint8Array.of(number, ...rest) };
  };

  const create = call(33, 'metadata mint mintAuthority payer updateAuthority systemProgram');
  const master = call(17, 'edition mint updateAuthority mintAuthority payer metadata tokenProgram', [0]);
  const verify = call(18, 'metadata collectionAuthority payer collectionMint collection edition');
  const minted = {
    ...{ nft_address: mint, amount: 1, amount_raw: { text: '1' }, owner_associated_account: holder, owner },
    collection_address: null,
  };

  it('reports a minted NFT once, by the instruction that completes it', () => {
    const decoded = allActions(executedTransaction([create, master], made));
    expect(decoded.map(({ at, type }) => [at, type])).toEqual([[1, 'NFT_MINT']]);
    expect(one(decoded[0]?.info)).toEqual(minted);
  });

  it.each([
    ['VerifyCollection', 18, 'metadata authority payer collectionMint collection edition', []],
    ['SetAndVerifyCollection', 25, 'metadata authority payer updateAuthority collectionMint', []],
    ['VerifySizedCollectionItem', 30, 'metadata authority payer collectionMint collection', []],
    ['SetAndVerifySizedCollectionItem', 32, 'metadata authority payer updateAuthority collectionMint', []],
    ['Verify', 52, 'authority delegateRecord! metadata collectionMint collectionMetadata', [1]],
  ])('takes the collection verified by %s', (_, number, names, rest) => {
    const { at } = accountsOf(names, metadata);
    const decoded = allActions(executedTransaction([create, master, call(number, names, rest)], made));
    expect(decoded).toHaveLength(1);
    expect(one(decoded[0]?.info)).toEqual({ ...minted, collection_address: at.collectionMint });
  });

  it('ignores verifications of creators and of other NFTs', () => {
    const names = 'authority delegateRecord! metadata collectionMint collectionMetadata';
    const creator = call(52, names, [0]);
    expect(one(allActions(executedTransaction([create, master, creator], made))[0]?.info)).toEqual(minted);
    const other = { ...verify, accounts: [someone(6), ...verify.accounts.slice(1)] };
    const decoded = allActions(executedTransaction([create, master, other], made));
    expect(one(decoded[0]?.info)).toEqual(minted);
    expect(actionsOf(executedTransaction([create, master, other], made), 2)).toBeNull();
  });

  it.each([
    ['CreateMetadataAccount', call(0, 'metadata mint mintAuthority')],
    ['CreateMetadataAccountV2', call(16, 'metadata mint mintAuthority')],
    ['CreateMetadataAccountV3', create],
    ['CreateMasterEdition', call(10, 'edition mint updateAuthority mintAuthority payer metadata')],
    ['CreateMasterEditionV3', master],
    ['MintNewEditionFromMasterEditionViaToken', call(11, 'metadata newEdition masterEdition mint')],
    ['MintNewEditionFromMasterEditionViaVaultProxy', call(13, 'metadata newEdition masterEdition mint')],
    [
      'Mint',
      call(43, 'token tokenOwner metadata masterEdition tokenRecord mint', [0, 1, 0, 0, 0, 0, 0, 0, 0]),
    ],
    ['Print', call(55, 'metadata edition mint owner tokenAccount')],
  ])('decodes an NFT minted by %s', (_, instruction) => {
    const decoded = actionsOf(executedTransaction([instruction], made));
    expect(one(decoded)).toEqual([{ type: 'NFT_MINT', info: minted }]);
    const { collectionMint } = accountsOf('metadata collectionAuthority payer collectionMint', metadata).at;
    const vouched = actionsOf(executedTransaction([instruction, verify], made));
    expect(vouched?.[0]?.info.collection_address).toBe(collectionMint);
  });

  it.each([
    ['the supply exceeds one', holding(holder, mint, owner, [0n, 2n])],
    ['the token existed before', holding(holder, mint, owner, [1n, 1n])],
    ['the token is divisible', holding(holder, mint, owner, [0n, 1n], 6)],
  ])('reports no mint when %s', (_, account) => {
    expect(allActions(executedTransaction([create, master], { tokenAccounts: [account] }))).toEqual([]);
    expect(allActions(executedTransaction([create, master], { ...made, err: 'failed' }))).toEqual([]);
  });

  it('hides setup of a new token and leaves changes to an old one UNKNOWN', () => {
    const fresh = call(42, 'metadata masterEdition! mint authority payer updateAuthority', [0]);
    const parsed = { type: 'initializeMint2', info: { mint, decimals: 6 } };
    const initialize = { program: programs.token, data: Uint8Array.of(20), parsed };
    expect(actionsOf(executedTransaction([fresh, initialize]))).toEqual([]);
    expect(actionsOf(executedTransaction([create, initialize]))).toEqual([]);
    expect(actionsOf(executedTransaction([fresh]))).toBeNull();
    expect(actionsOf(executedTransaction([create]))).toBeNull();
  });

  const burn = call(41, 'authority collectionMetadata! metadata edition mint token');
  const transfer = call(49, 'token tokenOwner destination destinationOwner mint metadata');
  const inner = { outer: 0, caller: 0, height: 2, parentProgram: metadata, program: programs.token };

  it('leaves burns and transfers to the token program', () => {
    const beneath = { ...inner, data: Uint8Array.of(8) };
    expect(actionsOf(executedTransaction([burn, beneath]))).toEqual([]);
    expect(actionsOf(executedTransaction([transfer, beneath]))).toEqual([]);
    expect(actionsOf(executedTransaction([transfer, { ...beneath, caller: 5 }]))?.[0]?.type).toBe(
      'NFT_TRANSFER',
    );
  });

  it('reports burns and transfers itself without inner instructions', () => {
    const burner = accountsOf('authority', metadata).at.authority;
    const burnt = { type: 'NFT_BURN', info: { wallet: burner, nft_address: mint, amount: 1 } };
    expect(actionsOf(executedTransaction([burn]))).toEqual([burnt]);
    const { at } = accountsOf('token tokenOwner destination destinationOwner', metadata);
    const parties = { receiver: at.destinationOwner, sender: at.tokenOwner };
    const moved = { ...parties, receiver_associated_account: at.destination, nft_address: mint };
    expect(actionsOf(executedTransaction([transfer]))).toEqual([
      { type: 'NFT_TRANSFER', info: { amount: 1, ...moved } },
    ]);
    const second = accountsOf('metadata owner', metadata).at.owner;
    const burntBySecond = { type: 'NFT_BURN', info: { wallet: second, nft_address: mint, amount: 1 } };
    expect(actionsOf(executedTransaction([call(29, 'metadata owner mint tokenAccount')]))).toEqual([
      burntBySecond,
    ]);
    expect(actionsOf(executedTransaction([call(37, 'metadata owner mint masterEditionMint')]))).toEqual([
      burntBySecond,
    ]);
  });

  it('leaves metadata updates and unknown numbers UNKNOWN', () => {
    expect(actionsOf(executedTransaction([verify]))).toBeNull();
    expect(actionsOf(executedTransaction([call(26, 'delegate tokenAccount edition mint')]))).toBeNull();
    expect(actionsOf(executedTransaction([{ ...create, data: Uint8Array.of(200) }]))).toBeNull();
    expect(actionsOf(executedTransaction([{ ...create, data: new Uint8Array(0) }]))).toBeNull();
  });
});

/** Interface: metaplex-foundation/mpl-core 2181404, idls/mpl_core.json. */
describe('Metaplex Core', () => {
  const call = (number: number, names: string) => {
    const { accounts, at } = accountsOf(names, core);
    return {
      at,
      decoded: actionsOf(executedTransaction([{ program: core, accounts, data: Uint8Array.of(number, 0) }])),
    };
  };

  it.each([0, 20])('decodes a new asset by instruction %i with collection and owner', (number) => {
    const { at, decoded } = call(number, 'asset collection authority! payer owner updateAuthority!');
    const info = { nft_address: at.asset, amount: 1, amount_raw: { text: '1' }, owner: at.owner };
    const rest = { owner_associated_account: null, collection_address: at.collection };
    expect(one(decoded)).toEqual([{ type: 'NFT_MINT', info: { ...info, ...rest } }]);
  });

  it('assigns a new asset to the update authority, else to the payer', () => {
    const named = call(0, 'asset collection! authority! payer owner! updateAuthority');
    expect(named.decoded?.[0]?.info).toMatchObject({
      owner: named.at.updateAuthority,
      collection_address: null,
    });
    const bare = call(0, 'asset collection! authority! payer owner! updateAuthority!');
    expect(bare.decoded?.[0]?.info).toMatchObject({ owner: bare.at.payer });
  });

  it('decodes a transfer by any authority', () => {
    const { at, decoded } = call(14, 'asset collection! payer authority newOwner systemProgram!');
    const info = { amount: 1, receiver: at.newOwner, sender: at.authority, nft_address: at.asset };
    expect(decoded).toEqual([{ type: 'NFT_TRANSFER', info: { ...info, receiver_associated_account: null } }]);
    const byPayer = call(14, 'asset collection! payer authority! newOwner');
    expect(byPayer.decoded?.[0]?.info.sender).toBe(byPayer.at.payer);
  });

  it('decodes a burn', () => {
    const { at, decoded } = call(12, 'asset collection! payer authority! systemProgram!');
    expect(decoded).toEqual([
      { type: 'NFT_BURN', info: { wallet: at.payer, nft_address: at.asset, amount: 1 } },
    ]);
  });

  it('leaves plugins and collections UNKNOWN', () => {
    expect(call(1, 'collection updateAuthority! payer systemProgram').decoded).toBeNull();
    expect(call(2, 'asset collection! payer authority!').decoded).toBeNull();
  });
});

/** Interface: metaplex-foundation/mpl-bubblegum 575f729, idls/bubblegum.json. */
describe('Bubblegum', () => {
  const nonce = 5n;
  const idIn = (tree: Address): Address => {
    const number = new ByteWriter().u64(nonce).finish();
    return findProgramAddress([Buffer.from('asset'), addressBytes(tree), number], bubblegum).address;
  };

  const leaf = (id: Address, owner: Address, number = nonce): Uint8Array => {
    const schema = new ByteWriter().u8(1).u8(0).u8(0).bytes(addressBytes(id)).bytes(addressBytes(owner));
    const decoded = schema.bytes(addressBytes(owner)).u64(number).zeros(96).finish();
    return new ByteWriter().u8(1).u8(0).u32(decoded.length).bytes(decoded).finish();
  };

  const mintNames = 'treeAuthority leafOwner leafDelegate merkleTree payer treeDelegate logWrapper';
  const mintArgs = (args: ByteWriter): void => {
    for (const text of ['Nämé', '', 'https://a.b']) {
      const bytes = Buffer.from(text);
      args.u32(bytes.length).bytes(bytes);
    }
    args.u16(500).bool(false).bool(true).u8(1).u8(7).u8(1).u8(0).u8(1).bool(false);
    args
      .bytes(addressBytes(someone(6)))
      .u8(1)
      .u8(2)
      .u64(3n)
      .u64(2n ** 60n)
      .u8(0);
    args
      .u32(1)
      .bytes(addressBytes(someone(7)))
      .bool(true)
      .u8(100);
  };
  const { accounts, at } = accountsOf(mintNames, bubblegum);
  const mint = { program: bubblegum, accounts, data: anchorData('mint_v1', mintArgs) };
  const received = (data: Uint8Array, place: object = {}) => ({
    ...{ outer: 0, height: 2, caller: 0, parentProgram: bubblegum, program: noop, data },
    ...place,
  });

  it('decodes a mint with its metadata', () => {
    const decoded = actionsOf(
      executedTransaction([mint, received(leaf(idIn(at.merkleTree!), at.leafOwner!))]),
    );
    expect(one(decoded)).toEqual([
      {
        type: 'COMPRESSED_NFT_MINT',
        info: {
          ...{ tree_authority: at.treeAuthority, merkle_tree: at.merkleTree, payer: at.payer },
          ...{ nft_address: idIn(at.merkleTree!), owner: at.leafOwner, update_authority: at.treeAuthority },
          nft_metadata: {
            ...{ name: 'Nämé', symbol: '', uri: 'https://a.b', sellerFeeBasisPoints: 500 },
            ...{ primarySaleHappened: false, isMutable: true, editionNonce: 7 },
            tokenStandard: { nonFungible: {} },
            collection: { verified: false, key: someone(6) },
            uses: {
              ...{
                useMethod: { single: {} },
                remaining: { text: '3' },
                total: { text: '1152921504606846976' },
              },
            },
            tokenProgramVersion: { original: {} },
            creators: [{ address: someone(7), verified: true, share: 100 }],
          },
        },
      },
    ]);
  });

  it('rejects leaf events of another tree or caller, and other data', () => {
    const id = idIn(at.merkleTree!);
    const nameOf = (...calls: ReturnType<typeof received>[]) =>
      actionsOf(executedTransaction([mint, ...calls]))?.[0]?.info.nft_address;
    expect(nameOf(received(leaf(id, someone(3))))).toBe(id);
    expect(nameOf(received(leaf(idIn(someone(8)), someone(3))))).toBeNull();
    expect(nameOf(received(leaf(id, someone(3), nonce + 1n)))).toBeNull();
    expect(nameOf(received(leaf(id, someone(3)), { caller: 7 }))).toBeNull();
    expect(nameOf(received(leaf(id, someone(3)), { outer: 1 }))).toBeNull();
    expect(nameOf(received(leaf(id, someone(3)).subarray(0, 60)))).toBeNull();
    expect(nameOf()).toBeNull();
    // Without heights, the first leaf event before the next Bubblegum instruction counts.
    const flat = { height: null, caller: 0 };
    expect(nameOf(received(Uint8Array.of(0, 0)), received(leaf(id, someone(3)), flat))).toBe(id);
    const next = { ...received(mint.data, flat), program: bubblegum };
    expect(nameOf(next, received(leaf(id, someone(3)), flat))).toBeNull();
  });

  it('rejects metadata with unknown variants', () => {
    const wrong = (change: (args: ByteWriter) => void) =>
      actionsOf(executedTransaction([{ ...mint, data: anchorData('mint_v1', change) }]));
    expect(wrong((args) => args.u32(2 ** 31))).toBeNull();
    expect(wrong((args) => args.u32(0).u32(0).u32(0).u16(0).u8(0).u8(0).u8(0).u8(1).u8(9))).toBeNull();
    expect(wrong((args) => args.u32(1).u8(65))).toBeNull();
  });

  const hashes = (args: ByteWriter) => args.zeros(96);

  it.each(['create_tree', 'create_tree_v2'])('decodes tree creation by %s', (name) => {
    const data = anchorData(name, (args) => args.u32(14).u32(64).u8(0));
    const tree = (creator: string) => {
      const named = accountsOf(`treeAuthority merkleTree payer ${creator} logWrapper`, bubblegum);
      return {
        at: named.at,
        decoded: actionsOf(executedTransaction([{ program: bubblegum, accounts: named.accounts, data }])),
      };
    };
    const { at: places, decoded } = tree('treeCreator');
    const info = {
      tree_authority: places.treeAuthority,
      merkle_tree: places.merkleTree,
      payer: places.payer,
    };
    const size = { max_depth: 14, max_buffer_size: 64 };
    expect(decoded).toEqual([
      { type: 'CREATE_TREE', info: { ...info, tree_creator: places.treeCreator, ...size } },
    ]);
    const own = tree('treeCreator!');
    expect(own.decoded?.[0]?.info).toMatchObject({ tree_creator: own.at.payer });
  });

  it.each([
    ['transfer', 'treeAuthority leafOwner leafDelegate newLeafOwner merkleTree', (args: ByteWriter) => args],
    [
      'transfer_v2',
      'treeAuthority payer authority! leafOwner leafDelegate! newLeafOwner merkleTree',
      (args: ByteWriter) => args.u8(0).u8(0),
    ],
    [
      'transfer_v2',
      'treeAuthority payer authority leafOwner leafDelegate newLeafOwner merkleTree coreCollection',
      (args: ByteWriter) => args.u8(1).zeros(32).u8(1).u8(4),
    ],
  ])('decodes a transfer by %s', (name, names, optional) => {
    const named = accountsOf(names, bubblegum);
    const data = anchorData(name, (args) => optional(hashes(args)).u64(nonce).u32(0));
    expect(actionsOf(executedTransaction([{ program: bubblegum, accounts: named.accounts, data }]))).toEqual([
      {
        type: 'COMPRESSED_NFT_TRANSFER',
        info: {
          ...{ tree_authority: named.at.treeAuthority, merkle_tree: named.at.merkleTree },
          ...{ sender: named.at.leafOwner, receiver: named.at.newLeafOwner },
          ...{ nft_address: idIn(named.at.merkleTree!), update_authority: named.at.treeAuthority },
        },
      },
    ]);
  });

  it.each([
    ['burn', 'treeAuthority leafOwner leafDelegate merkleTree', (args: ByteWriter) => args],
    [
      'burn_v2',
      'treeAuthority payer authority! leafOwner leafDelegate! merkleTree',
      (args: ByteWriter) => args.u8(0).u8(0),
    ],
  ])('decodes a burn by %s', (name, names, optional) => {
    const named = accountsOf(names, bubblegum);
    const data = anchorData(name, (args) => optional(hashes(args)).u64(nonce).u32(0));
    expect(actionsOf(executedTransaction([{ program: bubblegum, accounts: named.accounts, data }]))).toEqual([
      {
        type: 'COMPRESSED_NFT_BURN',
        info: {
          ...{ tree_authority: named.at.treeAuthority, merkle_tree: named.at.merkleTree },
          ...{ owner: named.at.leafOwner, nft_address: idIn(named.at.merkleTree!) },
          update_authority: named.at.treeAuthority,
        },
      },
    ]);
  });

  it('hides tree operations called by other programs', () => {
    const compression = address('cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK');
    const append = { program: compression, data: anchorData('append', (args) => args.zeros(32)) };
    expect(actionsOf(executedTransaction([{ ...append, outer: 0, caller: 3, height: 2 }]))).toEqual([]);
    expect(actionsOf(executedTransaction([append]))).toBeNull();
    expect(actionsOf(executedTransaction([{ program: noop, data: new Uint8Array(3) }]))).toEqual([]);
  });

  it('leaves other instructions UNKNOWN', () => {
    expect(actionsOf(executedTransaction([{ ...mint, data: anchorData('delegate', hashes) }]))).toBeNull();
    expect(actionsOf(executedTransaction([{ ...mint, data: anchorData('redeem', hashes) }]))).toBeNull();
  });
});
