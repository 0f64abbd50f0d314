import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../../packages/localnet/test/rig.ts';
import { account, key, mint, tokenAccount } from '../../../packages/localnet/test/support/accounts.ts';
import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import { Chain } from '../../../src/decoding/chain/chain.ts';
import { type CoreAsset, type CorePlugins, coreProgram } from '../../../src/decoding/nft/core-account.ts';
import type { MetaplexEdition, MetaplexMetadata } from '../../../src/decoding/nft/metadata-accounts.ts';
import {
  editionAddress,
  metadataAddress,
  metadataProgram,
  tokenRecordAddress,
} from '../../../src/decoding/nft/metaplex-addresses.ts';
import { nftsOfWallet, readNfts, withTokenRecords } from '../../../src/decoding/nft/read-nfts.ts';
import { withOffChain } from '../../../src/decoding/nft/show-nft.ts';
import { readMints } from '../../../src/decoding/token/read-mints.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { NodeRejection } from '../../../src/protocol/rest/node-rejection.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import type { Address } from '../../../src/solana/address.ts';
import { programs } from '../../../src/solana/programs.ts';
import { LedgerCaller } from '../../rest-api/ledger-caller.ts';
import {
  coreAssetData,
  coreCollectionData,
  editionData,
  metadataData,
  tokenRecordData,
} from './encode-accounts.ts';
import { dasAsset, FakeDas } from './fake-das.ts';
import { token2022Mint } from './token-2022-mint.ts';

type Placed = readonly [Address, Account];

const WALLET = key(20);
const OTHER = key(21);
const AUTHORITY = key(22);
const COLLECTION = key(23);
/** Wallet without accounts. */
const POOR = key(99);
const GROUP = key(24);
const CORE_COLLECTION = key(25);

const metadataOf = (at: Address, more: Partial<MetaplexMetadata> = {}): MetaplexMetadata => ({
  updateAuthority: AUTHORITY,
  mint: at,
  name: 'Fox',
  symbol: 'FOX',
  uri: 'https://json/fox',
  sellerFeeBasisPoints: 500,
  creators: [{ address: AUTHORITY, share: 100, verified: true }],
  primarySaleHappened: true,
  isMutable: true,
  tokenStandard: 'NonFungible',
  collection: null,
  ...more,
});

const placedMetadata = (at: Address, more: Partial<MetaplexMetadata> = {}): Placed => [
  metadataAddress(at),
  account(metadataProgram, metadataData(metadataOf(at, more), { size: 607 })),
];

const held = (
  at: number,
  of: Address,
  owner = WALLET,
  amount = 1n,
  program: Address = programs.token,
): Placed => [key(at), tokenAccount(of, owner, amount, null, program)];

const placedEdition = (at: Address, edition: MetaplexEdition): Placed => [
  editionAddress(at),
  account(metadataProgram, editionData(edition)),
];

const core = (more: Partial<CoreAsset> = {}): Account =>
  account(
    coreProgram,
    coreAssetData({
      ...{ type: 'asset', owner: WALLET, updateAuthority: null, collection: CORE_COLLECTION },
      ...{ name: 'Core', uri: 'https://json/core', plugins: {} },
      ...more,
    }),
  );

const collectionPlugins: CorePlugins = {
  royalties: { basisPoints: 700, creators: [{ address: AUTHORITY, percentage: 60 }] },
  attributes: [{ trait: 'of', value: 'the collection' }],
};

const coreCollection = account(
  coreProgram,
  coreCollectionData({
    ...{ type: 'collection', updateAuthority: AUTHORITY, name: 'Cores', uri: 'https://json/cores' },
    ...{ numMinted: 3, currentSize: 2, plugins: collectionPlugins },
  }),
);

const NFT = key(30);
const PROGRAMMABLE = key(31);
const OLD_MASTER = key(32);
const OLD_PRINT = key(33);
const LONE = key(34);
const ONE_OF_MANY = key(35);
const BURNT = key(36);
const FUNGIBLE = key(37);
const NAMELESS = key(38);
const FOREIGN_METADATA = key(39);
const OF_2022 = key(40);
const CORE = key(41);
const CORE_OWN = key(42);
const CORE_ORPHAN = key(43);
const CLAIMS = key(44);
const ABSENT = key(45);
const RECORD_OF = key(61);
const FUNGIBLE_ASSET = key(46);
const UNMINTED_2022 = key(47);
const BURNT_OLD = key(48);
const OTHERS_MINT = key(49);
const OTHER_METADATA = key(50);
const CORE_FALSE = key(51);
const FALSE_COLLECTION = key(52);
const FALSELY_NAMED = key(53);
const FALSE_EDITION = key(54);
const FALSE_HOLDER = key(55);
const FALSE_MEMBER = key(56);
const FALSE_GROUP = key(57);
const LAST = key(58);

const noStandard = { tokenStandard: null, name: 'Old' } as const;
const inCollection = (verified: boolean) => ({ collection: { address: COLLECTION, verified } });

const record = tokenRecordData({
  ...{ address: RECORD_OF, key: 'TokenRecord', state: 'Locked', rule_set_revision: 3n },
  ...{ delegate: OTHER, token_delegate_role: 'Staking', locked_transfer: null },
});

const placed: Placed[] = [
  [NFT, mint(1n, 0)],
  placedMetadata(NFT, inCollection(true)),
  held(60, NFT),
  held(90, NFT, OTHER, 0n),
  [PROGRAMMABLE, mint(1n, 0)],
  placedMetadata(PROGRAMMABLE, { tokenStandard: 'ProgrammableNonFungible' }),
  held(61, PROGRAMMABLE),
  [tokenRecordAddress(PROGRAMMABLE, RECORD_OF), account(metadataProgram, record)],
  [tokenRecordAddress(NFT, key(60)), account(metadataProgram, record)],
  [OLD_MASTER, mint(1n, 0)],
  placedMetadata(OLD_MASTER, noStandard),
  placedEdition(OLD_MASTER, { type: 'master', supply: 1n, maxSupply: null }),
  held(62, OLD_MASTER),
  [OLD_PRINT, mint(1n, 0)],
  placedMetadata(OLD_PRINT, noStandard),
  placedEdition(OLD_PRINT, { type: 'print', parent: OLD_MASTER, edition: 1n }),
  held(63, OLD_PRINT),
  [LONE, mint(1n, 0)],
  placedMetadata(LONE, noStandard),
  held(64, LONE),
  [ONE_OF_MANY, mint(1_000n, 0)],
  placedMetadata(ONE_OF_MANY, { tokenStandard: 'FungibleAsset' }),
  held(65, ONE_OF_MANY),
  [BURNT, mint(0n, 0)],
  placedMetadata(BURNT),
  [FUNGIBLE, mint(1n, 6)],
  placedMetadata(FUNGIBLE, { tokenStandard: 'Fungible', name: 'Coin' }),
  held(66, FUNGIBLE),
  [NAMELESS, mint(1n, 0)],
  held(67, NAMELESS),
  [FOREIGN_METADATA, mint(1n, 0)],
  [metadataAddress(FOREIGN_METADATA), account(OTHER, metadataData(metadataOf(FOREIGN_METADATA)))],
  held(68, FOREIGN_METADATA),
  [
    OF_2022,
    account(
      programs.token2022,
      token2022Mint({
        ...{ mint: OF_2022, group: GROUP, name: 'Wolf', updateAuthority: AUTHORITY },
        additionalMetadata: [['fur', 'grey']],
      }),
    ),
  ],
  held(69, OF_2022, WALLET, 1n, programs.token2022),
  [GROUP, account(programs.token2022, token2022Mint({ mint: GROUP, name: 'Wolves' }))],
  [CORE, core()],
  [CORE_OWN, core({ plugins: { royalties: { basisPoints: 100, creators: [] }, immutableMetadata: true } })],
  [CORE_ORPHAN, core({ collection: null, updateAuthority: null, owner: OTHER })],
  [CORE_COLLECTION, coreCollection],
  [CLAIMS, mint(1n, 0)],
  placedMetadata(CLAIMS, inCollection(false)),
  held(70, CLAIMS, OTHER),
  placedMetadata(COLLECTION, { name: 'Foxes' }),
  [FUNGIBLE_ASSET, mint(1n, 0)],
  placedMetadata(FUNGIBLE_ASSET, { tokenStandard: 'FungibleAsset' }),
  [
    UNMINTED_2022,
    account(programs.token2022, token2022Mint({ mint: UNMINTED_2022, name: 'None yet', supply: 0n })),
  ],
  [BURNT_OLD, mint(0n, 0)],
  placedMetadata(BURNT_OLD, noStandard),
  // Accounts of other programs are ignored.
  [OTHERS_MINT, account(OTHER, mint(1n, 0).data)],
  placedMetadata(OTHERS_MINT),
  [OTHER_METADATA, mint(1n, 0)],
  [metadataAddress(OTHER_METADATA), account(metadataProgram, metadataData(metadataOf(NFT)))],
  [CORE_FALSE, core({ collection: FALSE_COLLECTION })],
  [FALSE_COLLECTION, account(OTHER, coreCollection.data)],
  [FALSELY_NAMED, mint(1n, 0)],
  placedMetadata(FALSELY_NAMED, { collection: { address: FOREIGN_METADATA, verified: true } }),
  [FALSE_HOLDER, account(OTHER, tokenAccount(NFT, OTHER, 1n).data)],
  [FALSE_MEMBER, account(programs.token2022, token2022Mint({ mint: FALSE_MEMBER, group: FALSE_GROUP }))],
  [FALSE_GROUP, account(OTHER, token2022Mint({ mint: FALSE_GROUP }))],
  [LAST, mint(1n, 0)],
  placedMetadata(LAST, { tokenStandard: 'ProgrammableNonFungibleEdition' }),
  held(59, LAST),
  [tokenRecordAddress(LAST, key(59)), account(OTHER, record)],
  [FALSE_EDITION, mint(1n, 0)],
  placedMetadata(FALSE_EDITION, noStandard),
  [
    editionAddress(FALSE_EDITION),
    account(OTHER, editionData({ type: 'master', supply: 1n, maxSupply: null })),
  ],
];

let rig: Rig;
let caller: LedgerCaller;
let chain: Chain;
beforeAll(async () => {
  rig = await openRig({ accounts: placed });
  rig.freeze(2);
});
afterAll(() => rig.close());
beforeEach(() => {
  caller = new LedgerCaller(rig);
  chain = new Chain('mainnet-beta', caller);
});

const shown = new Map(
  placed.map(([at, { lamports, data, owner, executable, rentEpoch }]) => {
    const base64 = [Buffer.from(data).toString('base64'), 'base64'];
    return [at, { lamports, data: base64, owner, executable, rentEpoch }];
  }),
);

const read = async (at: Address) => (await readNfts(chain, [at], null)).get(at)?.onChain;

const refuse = () =>
  Promise.reject(new NodeRejection({ code: -32010, message: 'excluded from account secondary indexes' }));

describe('readNfts', () => {
  it('returns metadata, owner and the name of the verified collection', async () => {
    expect(await readNfts(chain, [NFT], null)).toEqual(
      new Map([
        [
          NFT,
          {
            onChain: {
              mint: NFT,
              name: 'Fox',
              symbol: 'FOX',
              metadataUri: 'https://json/fox',
              royaltyBasisPoints: 500,
              owner: WALLET,
              updateAuthority: AUTHORITY,
              creators: [{ address: AUTHORITY, share: 100, verified: true }],
              collection: { address: COLLECTION, verified: true, name: 'Foxes' },
              traits: [],
              primarySaleHappened: true,
              isMutable: true,
              tokenStandard: 'NonFungible',
              merkleTree: null,
              isBurnt: false,
            },
            content: null,
            tokenAccount: key(60),
            tokenRecord: null,
          },
        ],
      ]),
    );
  });

  it('takes four calls plus one owner lookup per NFT', async () => {
    await readNfts(chain, [NFT], null);
    expect(caller.counts()).toEqual({ getMultipleAccounts: 3, getTokenLargestAccounts: 1 });
    const many = [NFT, PROGRAMMABLE, OLD_MASTER, CORE, CORE_OWN, OF_2022, ABSENT, FUNGIBLE, NFT];
    await readNfts(chain, many, null);
    expect(caller.counts()).toEqual({ getMultipleAccounts: 3, getTokenLargestAccounts: 4 });
    await readNfts(chain, [CORE_ORPHAN], null);
    expect(caller.counts()).toEqual({ getMultipleAccounts: 1 });
  });

  it('derives the token standard of old metadata from the edition', async () => {
    expect((await read(OLD_MASTER))?.tokenStandard).toBe('NonFungible');
    expect((await read(OLD_PRINT))?.tokenStandard).toBe('NonFungibleEdition');
    expect((await read(LONE))?.tokenStandard).toBe('FungibleAsset');
    expect(await read(BURNT_OLD)).toMatchObject({ tokenStandard: 'FungibleAsset', isBurnt: false });
  });

  it('reads Token-2022 metadata, additional fields and the group as collection', async () => {
    expect(await read(OF_2022)).toMatchObject({
      ...{ name: 'Wolf', symbol: 'SYM', metadataUri: 'https://u', owner: WALLET, updateAuthority: AUTHORITY },
      collection: { address: GROUP, verified: true, name: 'Wolves' },
      ...{ traits: [{ trait: 'fur', value: 'grey' }], tokenStandard: 'NonFungible', royaltyBasisPoints: 0 },
    });
  });

  it('inherits MPL Core royalties and attributes from the collection', async () => {
    expect(await read(CORE)).toMatchObject({
      ...{ mint: CORE, name: 'Core', owner: WALLET, updateAuthority: AUTHORITY, royaltyBasisPoints: 700 },
      creators: [{ address: AUTHORITY, share: 60, verified: true }],
      collection: { address: CORE_COLLECTION, verified: true, name: 'Cores' },
      ...{ traits: [{ trait: 'of', value: 'the collection' }], isMutable: true },
    });
    expect(await read(CORE_OWN)).toMatchObject({ royaltyBasisPoints: 100, creators: [], isMutable: false });
    const orphan = await read(CORE_ORPHAN);
    expect(orphan).toMatchObject({ updateAuthority: null, collection: null, isMutable: false, owner: OTHER });
  });

  it('reports an NFT without supply as burnt', async () => {
    expect(await read(BURNT)).toMatchObject({ isBurnt: true, owner: null, name: 'Fox' });
    expect(caller.counts()).toEqual({ getMultipleAccounts: 1 });
  });

  it('does not report an unminted Token-2022 NFT as burnt', async () => {
    expect(await read(UNMINTED_2022)).toMatchObject({ tokenStandard: 'FungibleAsset', isBurnt: false });
    expect(await read(GROUP)).toMatchObject({ tokenStandard: 'NonFungible', isMutable: false });
  });

  it('ignores accounts of other programs and of other mints', async () => {
    expect(await read(OTHERS_MINT)).toBeUndefined();
    expect((await readNfts(chain, [OTHER_METADATA], null)).size).toBe(0);
    expect(await read(CORE_FALSE)).toMatchObject({
      ...{ updateAuthority: null, royaltyBasisPoints: 0, traits: [], isMutable: true },
      collection: { address: FALSE_COLLECTION, verified: true },
    });
    expect((await read(CORE_FALSE))?.collection).not.toHaveProperty('name');
    expect((await read(FALSELY_NAMED))?.collection).toEqual({ address: FOREIGN_METADATA, verified: true });
    expect((await read(FALSE_MEMBER))?.collection).toEqual({ address: FALSE_GROUP, verified: true });
    expect((await read(FALSE_EDITION))?.tokenStandard).toBe('FungibleAsset');
  });

  it('has no owner when the largest account is empty', async () => {
    for (const named of [key(90), key(61), FALSE_HOLDER, ABSENT]) {
      caller.answering = ({ method }) =>
        method === 'getTokenLargestAccounts' ? Promise.resolve({ value: [{ address: named }] }) : undefined;
      expect([named, (await read(NFT))?.owner]).toEqual([named, null]);
    }
    caller.answering = ({ method }) =>
      method === 'getTokenLargestAccounts' ? Promise.resolve({ value: [] }) : undefined;
    expect((await read(NFT))?.owner).toBeNull();
  });

  it('fails when the node fails', async () => {
    caller.answering = ({ method }) => (method === 'getTokenLargestAccounts' ? refuse() : undefined);
    await expect(readNfts(chain, [NFT], null)).rejects.toThrow(NodeRejection);
    caller.answering = ({ method }) => (method === 'getMultipleAccounts' ? Promise.resolve(7) : undefined);
    await expect(readNfts(chain, [NFT], null)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

describe('DAS', () => {
  it('is queried once for all NFTs without accounts and provides their JSON', async () => {
    const das = new FakeDas([dasAsset(ABSENT, WALLET)]);
    const found = await readNfts(chain, [ABSENT, NFT, NAMELESS], das);
    expect([...found.keys()].sort()).toEqual([ABSENT, NFT].sort());
    expect(das.requests).toEqual([['getAssetBatch', { ids: [ABSENT, NAMELESS] }]]);
    expect(found.get(ABSENT)).toMatchObject({
      onChain: {
        ...{ name: 'Compressed', symbol: 'CNFT', metadataUri: `https://json/${ABSENT}`, owner: WALLET },
        ...{ royaltyBasisPoints: 250, isMutable: false, primarySaleHappened: true, isBurnt: false },
        merkleTree: 'CnBt2TJrw1dXUBfVBf2Ah4Cz5s84jhBG7cejdPF19Eyh',
      },
      content: {
        ...{ image: 'https://image', animationUrl: 'https://video', externalUrl: 'https://site' },
        ...{ description: 'Small', traits: [{ trait: 'size', value: 'small' }] },
        files: [{ uri: 'https://files/1', type: 'image/png' }],
      },
    });
  });

  it('is not queried when accounts suffice or the network has no server', async () => {
    const das = new FakeDas([dasAsset(ABSENT, WALLET)]);
    await readNfts(chain, [NFT], das);
    expect((await readNfts(new Chain('devnet', caller), [ABSENT], das)).size).toBe(0);
    await nftsOfWallet(new Chain('devnet', caller), das, WALLET);
    expect(das.requests).toEqual([]);
  });

  it('lists collection addresses whose names come from accounts', async () => {
    const grouping = (address: Address, more = {}): JsonValue => [
      { group_key: 'other', group_value: OTHER },
      { group_key: 'collection', group_value: address, ...more },
    ];
    const das = new FakeDas([
      dasAsset(key(71), WALLET, { grouping: grouping(CORE_COLLECTION) }),
      dasAsset(key(72), WALLET, { grouping: grouping(COLLECTION, { verified: false }) }),
      dasAsset(key(73), WALLET, { grouping: grouping(OTHER, { collection_metadata: { name: 'Said' } }) }),
    ]);
    const found = await readNfts(chain, [71, 72, 73].map(key), das);
    expect([...found.values()].map(({ onChain }) => onChain.collection)).toEqual([
      { address: CORE_COLLECTION, verified: true, name: 'Cores' },
      { address: COLLECTION, verified: false },
      { address: OTHER, verified: true, name: 'Said' },
    ]);
    caller.counts();
    await readNfts(chain, [key(73)], das);
    expect(caller.counts()).toEqual({ getMultipleAccounts: 1 });
  });

  it('fails with UPSTREAM_UNAVAILABLE on a malformed response', async () => {
    const das = new FakeDas([]);
    for (const answer of [null, 7, {}, { items: 7 }]) {
      das.answering = () => Promise.resolve(answer);
      await expect(readNfts(chain, [ABSENT], das)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
      await expect(nftsOfWallet(chain, das, WALLET)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    }
    das.answering = () => Promise.resolve([null, 7, 'x', [], { id: 7 }, { id: ABSENT }, { id: OTHER }]);
    const found = await readNfts(chain, [ABSENT], das);
    expect([...found.keys()]).toEqual([ABSENT]);
    expect(found.get(ABSENT)?.onChain).toMatchObject({ name: '', owner: null, creators: [] });
  });

  it('tolerates impossible values', async () => {
    const tree = 'CnBt2TJrw1dXUBfVBf2Ah4Cz5s84jhBG7cejdPF19Eyh';
    const asset = dasAsset(ABSENT, WALLET, {
      compression: { compressed: false, tree },
      royalty: { basis_points: -1 },
      creators: [{ address: 'nobody' }, { address: OTHER, share: 'all', verified: 1 }],
      interface: 'ProgrammableNFT',
      content: { metadata: { token_standard: 'Unheard', name: ['x'] } },
    });
    const found = await readNfts(chain, [ABSENT], new FakeDas([asset]));
    expect(found.get(ABSENT)).toMatchObject({
      onChain: {
        ...{ merkleTree: null, royaltyBasisPoints: 0, tokenStandard: 'ProgrammableNonFungible', name: '' },
        creators: [{ address: OTHER, share: 0, verified: false }],
      },
      content: null,
    });
  });
});

const owned = [
  NFT,
  PROGRAMMABLE,
  OLD_MASTER,
  OLD_PRINT,
  LONE,
  OF_2022,
  CORE,
  CORE_OWN,
  CORE_FALSE,
  LAST,
].sort();

describe('nftsOfWallet', () => {
  it('returns single tokens and MPL Core assets sorted by mint', async () => {
    const found = await nftsOfWallet(chain, null, WALLET);
    expect(found.map(({ onChain }) => onChain.mint)).toEqual(owned);
    expect(found.every(({ onChain }) => onChain.owner === WALLET)).toBe(true);
    const byMint = await readNfts(chain, owned, null);
    expect(found).toEqual(owned.map((at) => byMint.get(at)));
  });

  it('omits NFTs of other wallets and empty accounts', async () => {
    const found = await nftsOfWallet(chain, null, OTHER);
    expect(found.map(({ onChain }) => onChain.mint)).toEqual([CORE_ORPHAN, CLAIMS]);
    const assets = [CORE, CORE_ORPHAN, CORE_COLLECTION].map((pubkey) => ({
      pubkey,
      account: shown.get(pubkey)!,
    }));
    caller.answering = ({ method }) =>
      method === 'getProgramAccounts' ? Promise.resolve(assets) : undefined;
    expect((await nftsOfWallet(chain, null, OTHER)).map(({ onChain }) => onChain.mint)).toEqual([
      ...[CORE_ORPHAN, CLAIMS],
    ]);
  });

  it.each([
    ['of another wallet', POOR, (decoded: JsonValue) => decoded],
    [
      'of another program',
      WALLET,
      (decoded: JsonValue) =>
        parseJson(writeJson(decoded).replaceAll(/"(Tokenkeg|Tokenz)[^"]+"/g, `"${programs.system}"`)),
    ],
  ])('ignores token accounts %s', async (_, wallet, decoded) => {
    const honest = new LedgerCaller(rig);
    caller.answering = ({ method, params: [, ...rest] }) =>
      method === 'getTokenAccountsByOwner'
        ? honest.request('mainnet-beta', method, [WALLET, ...rest]).then(decoded)
        : undefined;
    const found = await nftsOfWallet(chain, null, wallet);
    expect(found.filter(({ tokenAccount }) => tokenAccount !== null)).toEqual([]);
  });

  it('includes compressed NFTs from DAS, page by page', async () => {
    const compressed = [200, 201, 202, 203, 204].map(key);
    const das = new FakeDas(
      compressed.map((id) => dasAsset(id, WALLET)),
      2,
    );
    const found = await nftsOfWallet(chain, das, WALLET);
    expect(found.map(({ onChain }) => onChain.mint)).toEqual([...owned, ...compressed].sort());
    expect(das.requests.map(([method, { page }]) => [method, page])).toEqual([
      ['searchAssets', 1],
      ['searchAssets', 2],
      ['searchAssets', 3],
    ]);
    expect(das.requests[0]?.[1]).toEqual({
      ...{ ownerAddress: WALLET, compressed: true, burnt: false, page: 1, limit: 1_000 },
    });
  });

  it('ignores burnt DAS assets and those of other wallets', async () => {
    const das = new FakeDas([]);
    const items = [dasAsset(key(200), OTHER), dasAsset(key(201), WALLET, { burnt: true }), 7];
    das.answering = () => Promise.resolve({ items });
    const found = await nftsOfWallet(chain, das, WALLET);
    expect(found.map(({ onChain }) => onChain.mint)).toEqual(owned);
  });

  it('fails with ANSWER_TOO_LARGE when DAS pages do not end', async () => {
    const das = new FakeDas([]);
    das.answering = () => Promise.resolve({ limit: 1, items: [dasAsset(key(200), WALLET)] });
    await expect(nftsOfWallet(chain, das, WALLET)).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE' });
    expect(das.requests).toHaveLength(20);
  });

  it('reads MPL Core assets from DAS when the node rejects the search, else fails', async () => {
    caller.answering = ({ method }) => (method === 'getProgramAccounts' ? refuse() : undefined);
    await expect(nftsOfWallet(chain, null, WALLET)).rejects.toThrow(NodeRejection);
    caller.answering = ({ method }) =>
      method === 'getProgramAccounts' ? Promise.reject(new Failure('UPSTREAM_TIMEOUT')) : undefined;
    await expect(nftsOfWallet(chain, new FakeDas([]), WALLET)).rejects.toThrow(Failure);
    caller.answering = ({ method }) => (method === 'getProgramAccounts' ? refuse() : undefined);
    const asset = dasAsset(CORE, WALLET, { interface: 'MplCoreAsset', compression: { compressed: false } });
    const das = new FakeDas([asset]);
    const found = await nftsOfWallet(chain, das, WALLET);
    const mints = owned.filter((at) => at !== CORE_OWN && at !== CORE_FALSE);
    expect(found.map(({ onChain }) => onChain.mint)).toEqual(mints);
    expect(das.requests.map(([, { interface: kind, compressed }]) => kind ?? compressed).sort()).toEqual(
      ['MplCoreAsset', true].sort(),
    );
  });
});

describe('readMints', () => {
  it('returns names and the NFT flag', async () => {
    const all = [FUNGIBLE_ASSET, NFT, ONE_OF_MANY, FUNGIBLE, NAMELESS, OF_2022, LONE, BURNT, CORE, ABSENT];
    const { mints: found } = await readMints(chain, all);
    const decoded = [...found.values()].map(({ address, metadata, isNft }) => [
      address,
      metadata?.name,
      isNft,
    ]);
    expect(decoded).toEqual([
      [FUNGIBLE_ASSET, 'Fox', true],
      [NFT, 'Fox', true],
      [ONE_OF_MANY, 'Fox', false],
      [FUNGIBLE, 'Coin', false],
      [NAMELESS, undefined, false],
      [OF_2022, 'Wolf', true],
      [LONE, 'Old', true],
      [BURNT, 'Fox', true],
    ]);
    expect(caller.counts()).toEqual({ getMultipleAccounts: 1 });
  });

  it('fails with ANSWER_TOO_LARGE beyond the limit', async () => {
    const many = Array.from({ length: 20_001 }, (_, at) => `${at}` as Address);
    await expect(readMints(chain, many)).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE' });
  });
});

describe('withTokenRecords', () => {
  it('reads records of programmable NFTs in one call', async () => {
    const found = await readNfts(chain, [PROGRAMMABLE, NFT, CORE, LAST], null);
    caller.counts();
    const records = await withTokenRecords(chain, [...found.values()]);
    expect(caller.counts()).toEqual({ getMultipleAccounts: 1 });
    expect(records.map(({ onChain, tokenRecord }) => [onChain.mint, tokenRecord])).toEqual([
      [
        PROGRAMMABLE,
        {
          address: tokenRecordAddress(PROGRAMMABLE, RECORD_OF),
          ...{ key: 'TokenRecord', state: 'Locked', rule_set_revision: 3n },
          ...{ delegate: OTHER, token_delegate_role: 'Staking', locked_transfer: null },
        },
      ],
      [NFT, null],
      [CORE, null],
      [LAST, null],
    ]);
    expect(await withTokenRecords(chain, [])).toEqual([]);
  });
});

describe('withOffChain', () => {
  it('keeps the order, reads each URI once and skips content from DAS', async () => {
    const das = new FakeDas([dasAsset(ABSENT, WALLET)]);
    const found = await readNfts(chain, [CORE, NFT, ABSENT, PROGRAMMABLE, OF_2022], das);
    const nfts = [NFT, CORE, ABSENT, PROGRAMMABLE, OF_2022].map((at) => found.get(at)!);
    const requested: string[] = [];
    const offChain = {
      read: async (uris: Iterable<string>) => {
        requested.push(...uris);
        return new Map<string, JsonValue>([
          ['https://json/fox', { image: 'https://fox' }],
          ['https://u', ['not', 'an', 'object']],
        ]);
      },
    };
    const shown = await withOffChain(nfts, offChain, new AbortController().signal);
    expect(requested).toEqual(['https://json/fox', 'https://json/core', 'https://u']);
    const { onChain } = nfts[0]!;
    const nowhere = [{ ...nfts[0]!, onChain: { ...onChain, metadataUri: '' } }];
    expect(await withOffChain(nowhere, offChain, new AbortController().signal)).toMatchObject([
      { mint: NFT },
    ]);
    expect(requested).toHaveLength(3);
    expect(shown.map((nft) => [nft.mint, nft.image_uri, nft.is_loaded_metadata])).toEqual([
      [NFT, 'https://fox', true],
      [CORE, '', false],
      [ABSENT, 'https://image', true],
      [PROGRAMMABLE, 'https://fox', true],
      [OF_2022, '', false],
    ]);
  });
});
