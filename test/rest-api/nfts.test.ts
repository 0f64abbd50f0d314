import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { key } from '../../packages/localnet/test/support/accounts.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { read } from '../../src/rest-api/nft/read.ts';
import { readAll } from '../../src/rest-api/nft/read_all.ts';
import { readAllV1 } from '../../src/rest-api/nft/read_all_v1.ts';
import { readSelected } from '../../src/rest-api/nft/read_selected.ts';
import { search } from '../../src/rest-api/nft/search.ts';
import { routeOf } from '../../src/rest-api/routes.ts';
import type { Services } from '../../src/rest-api/services.ts';
import { allTokens } from '../../src/rest-api/wallet/all_tokens.ts';
import { collections } from '../../src/rest-api/wallet/collections.ts';
import { getPortfolio } from '../../src/rest-api/wallet/get_portfolio.ts';
import type { Address } from '../../src/solana/address.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';
import {
  coreAsset,
  Documents,
  heldNft,
  heldToken,
  type MetadataFields,
  metadata,
  numbered,
  tokenServices,
} from './token-fixtures.ts';

const WALLET = key(50);
const MISSING = key(52);
/** Holds one NFT more than unpaged lists allow. */
const HOARDER = key(53);
const HOARD = 1001;
const [ANN, BEN, CEM] = [key(60), key(61), key(62)] as const;
const COLLECTION = numbered(1, 500);
const CLAIMED = numbered(1, 501);
const CORE = numbered(9, 1);
const COIN = 400;
const documentOf = (n: number): string => `https://example.org/${n}.json`;

const verified = { address: COLLECTION, verified: true };
const metadataOfNfts: readonly MetadataFields[] = [
  { royalty: 500, creators: [ANN], updateAuthority: ANN, collection: verified },
  {
    royalty: 500,
    creators: [BEN, ANN],
    updateAuthority: BEN,
    collection: { address: CLAIMED, verified: false },
  },
  { royalty: 1000, creators: [BEN], updateAuthority: BEN, collection: verified },
  { royalty: 0, creators: [], updateAuthority: CEM },
  { royalty: 750, creators: [CEM], updateAuthority: ANN },
];
const NFTS = [10, 11, 12, 13, 14];
const energies: readonly JsonValue[] = ['5', 10, '100', 'much'];

const documents = new Documents({
  ...Object.fromEntries(
    energies.map((energy, n) => [
      documentOf(10 + n),
      {
        image: `https://example.org/${10 + n}.png`,
        attributes: [
          { trait_type: 'energy', value: energy },
          { trait_type: 'kind', value: n % 2 === 0 ? 'even' : 'odd' },
        ],
        collection: { name: 'Written', family: 'Pens' },
      },
    ]),
  ),
  'https://example.org/coin.json': { image: 'https://example.org/coin.png' },
});

const accounts = [
  ...NFTS.flatMap((n, at) => heldNft(n, WALLET, { uri: documentOf(n), ...metadataOfNfts[at] })),
  ...heldToken(COIN, WALLET, {
    amount: 9n,
    decimals: 0,
    metadataFields: { uri: 'https://example.org/coin.json' },
  }),
  metadata(COLLECTION, { name: 'The collection', symbol: 'COL', standard: 0 }),
  coreAsset(CORE, WALLET, 'https://example.org/core.json'),
  ...Array.from({ length: HOARD }, (_, n) =>
    heldNft(5000 + n, HOARDER, { creators: [n % 2 === 0 ? ANN : BEN] }),
  ).flat(),
];

let rig: Rig;
let caller: LedgerCaller;
const services = tokenServices(documents);
beforeAll(async () => {
  rig = await openRig({ accounts });
  rig.freeze(2);
  caller = new LedgerCaller(rig);
});
afterAll(() => rig.close());

type Shown = { mint: Address; name: string; [member: string]: JsonValue };
type Page = { nfts: Shown[]; page: number; size: number; total_count: number; total_pages: number };

const mint = (n: number): Address => numbered(1, n);
const mints = (...numbers: number[]): Address[] => numbers.map(mint);
const mintsOf = ({ nfts }: Pick<Page, 'nfts'>): Address[] => nfts.map((nft) => nft.mint);
const inTextOrder = (list: Address[]): Address[] => [...list].sort();
const pageOf = async (fields: { [name: string]: string | number }): Promise<Page> => {
  const { result } = await answerOf(readAll, { address: WALLET, ...fields }, caller, services);
  return result as unknown as Page;
};
const ALL = inTextOrder([...mints(...NFTS), CORE]);

describe('NFTs of a wallet', () => {
  it('are sorted by mint, with totals', async () => {
    const page = await pageOf({});
    expect(mintsOf(page)).toEqual(ALL);
    expect(page).toMatchObject({ page: 1, size: 50, total_count: 6, total_pages: 1 });
    expect(page.nfts.find((nft) => nft.mint === mint(10))).toMatchObject({
      ...{ name: 'NFT 10', royalty: 5, owner: WALLET, update_authority: ANN, is_loaded_metadata: true },
      ...{ image_uri: 'https://example.org/10.png', attributes: { energy: '5', kind: 'even' } },
      collection: { address: COLLECTION, verified: true, name: 'The collection', family: 'Pens' },
    });
    expect(page.nfts.find((nft) => nft.mint === CORE)).toMatchObject({
      ...{ name: 'Core asset', is_loaded_metadata: false },
    });
  });

  it('load documents of the requested page only', async () => {
    documents.reads();
    const page = await pageOf({ page: 2, size: 4 });
    expect(mintsOf(page)).toEqual(ALL.slice(4));
    expect(page).toMatchObject({ page: 2, size: 4, total_count: 6, total_pages: 2 });
    expect(documents.reads().length).toBe(2);
    const beyond = await pageOf({ page: 9, size: 4 });
    expect(beyond).toEqual({ nfts: [], page: 9, size: 4, total_count: 6, total_pages: 2 });
    expect(documents.reads()).toEqual([]);
  });

  it('are filtered by update authority before counting', async () => {
    const page = await pageOf({ update_authority: BEN, size: 1 });
    expect(page).toMatchObject({ total_count: 2, total_pages: 2 });
    expect(mintsOf(page)).toEqual(inTextOrder(mints(11, 12)).slice(0, 1));
    expect(await pageOf({ update_authority: MISSING })).toMatchObject({
      nfts: [],
      total_count: 0,
      total_pages: 0,
    });
  });

  it('reload documents with refresh', async () => {
    documents.forgotten.length = 0;
    await pageOf({ refresh: 'false' });
    expect(documents.forgotten).toEqual([]);
    await pageOf({ refresh: '' });
    expect(documents.forgotten.toSorted()).toEqual(
      [...NFTS.map(documentOf), 'https://example.org/core.json'].toSorted(),
    );
  });

  it.each([
    [{ address: WALLET, size: 51 }, 'size', 'must be a whole number from 1 to 50'],
    [{}, 'address', 'is missing: send an address in base58'],
  ])('rejects %j', async (fields, field, message) => {
    expect(await failureOf(readAll, fields, caller, services)).toMatchObject({
      problems: [{ field, message }],
    });
  });
});

describe('nft/read', () => {
  it('returns the NFT with its owner', async () => {
    const answer = await answerOf(read, { token_address: mint(12) }, caller, services);
    expect(answer).toMatchObject({
      message: 'NFT metadata',
      result: { mint: mint(12), name: 'NFT 12', royalty: 10, owner: WALLET },
    });
  });

  it('returns 404 for an address without NFT', async () => {
    const failure = await failureOf(read, { token_address: MISSING, network: 'testnet' }, caller, services);
    expect([failure.code, failure.text]).toEqual(['NFT_NOT_FOUND', `NFT ${MISSING} not found on testnet`]);
    expect(failure).toMatchObject({ facts: { address: MISSING, network: 'testnet' } });
  });
});

describe('nft/read_selected', () => {
  const selectedOf = async (fields: { [name: string]: JsonValue }) =>
    (await answerOf(readSelected, fields, caller, services)).result as unknown as Shown[];

  it('keeps the request order and omits addresses without NFT', async () => {
    const requested = [mint(13), MISSING, mint(10), CORE];
    const shown = await selectedOf({ token_addresses: requested });
    expect(shown.map((nft) => nft.mint)).toEqual([mint(13), mint(10), CORE]);
  });

  it.each([
    [Array(11).fill(mint(10)), 'token_addresses', 'has more than 10: send fewer at once'],
    [[], 'token_addresses', 'is empty: send 1 to 10'],
    [undefined, 'token_addresses', 'is missing: send a list of 1 to 10'],
    [[mint(10), 'x'], 'token_addresses[1]', 'must be an address: 32 bytes in base58'],
  ])('accepts 1 to 10 addresses (%#)', async (token_addresses, field, message) => {
    const failure = await failureOf(readSelected, { token_addresses: token_addresses! }, caller, services);
    expect(failure).toMatchObject({ problems: [{ field, message }] });
  });
});

describe('nft/search', () => {
  const searchOf = async (fields: { [name: string]: JsonValue }) => {
    const { message, result } = await answerOf(search, { wallet: WALLET, ...fields }, caller, services);
    expect(message).toBe('filtered NFTs');
    return result as unknown as Page & { total_data: number; total_page: number };
  };
  const found = async (fields: { [name: string]: JsonValue }): Promise<Address[]> =>
    mintsOf(await searchOf(fields));

  it('filters by any of the creators', async () => {
    expect(await found({ creators: ANN })).toEqual(inTextOrder(mints(10, 11)));
    const query = new Map([
      ['wallet', [WALLET]],
      ['creators', [ANN, CEM]],
    ]);
    const route = routeOf(search, services as unknown as Services);
    const { result } = await route.handle({ query, body: undefined, file: null }, caller);
    expect(mintsOf(result as unknown as Page)).toEqual(inTextOrder(mints(10, 11, 14)));
  });

  it('combines all filters and counts the matches', async () => {
    const page = await searchOf({ collection: COLLECTION, attributes: '{"kind":"even"}', size: 1, page: 2 });
    expect(page).toMatchObject({
      page: 2,
      size: 1,
      total_data: 2,
      total_page: 2,
      total_count: 2,
      total_pages: 2,
    });
    expect(mintsOf(page)).toEqual(inTextOrder(mints(10, 12)).slice(1));
    expect(await found({ creators: CEM, royalty: 5 })).toEqual([]);
  });

  it.each([
    [{ creators: 'me' }, 'creators[0]'],
    [{ size: 51 }, 'size'],
  ])('rejects %j with the field name', async (fields, field) => {
    const failure = await failureOf(search, { wallet: WALLET, ...fields }, caller, services);
    expect(failure).toMatchObject({ code: 'INVALID_FIELDS', problems: [{ field }] });
  });
});

it('wallet/collections lists verified collections, then off-chain names, then the rest', async () => {
  const { result } = await answerOf(collections, { wallet_address: WALLET }, caller, services);
  const { collections: groups } = result as unknown as {
    collections: { address?: string; name: string; family?: string; nft_count: number; nfts: Shown[] }[];
  };
  const actual = groups.map(({ nfts, ...about }) => ({ ...about, mints: mintsOf({ nfts }) }));
  const byName = (name: string) => actual.find((group) => group.name === name);
  expect(byName('The collection')).toEqual({
    ...{ address: COLLECTION, name: 'The collection', family: 'Pens', nft_count: 2 },
    mints: inTextOrder(mints(10, 12)),
  });
  expect(byName('Written')).toEqual({
    ...{ name: 'Written', family: 'Pens', nft_count: 2, mints: inTextOrder(mints(11, 13)) },
  });
  expect(actual.at(-1)).toEqual({ name: '', nft_count: 2, mints: inTextOrder([mint(14), CORE]) });
  expect(groups).toHaveLength(3);
  expect(groups[0]?.nfts[0]).toMatchObject({ creators: [{ share: 100 }], is_loaded_metadata: true });
});

it('a wallet with more NFTs than the document limit cannot be listed without pages', async () => {
  const attributes = '{"kind":"even"}';
  for (const failure of [
    await failureOf(readAllV1, { address: HOARDER }, caller, services),
    await failureOf(collections, { wallet_address: HOARDER }, caller, services),
    await failureOf(search, { wallet: HOARDER, attributes }, caller, services),
  ]) {
    expect(failure.code).toBe('ANSWER_TOO_LARGE');
  }
});

it('wallet/get_portfolio returns SOL, tokens and NFTs, reading each account once', async () => {
  documents.reads();
  rig.node.airdrop(WALLET, 2_500_000_000n as never);
  await rig.finalize();
  caller.counts();
  const { result } = await answerOf(getPortfolio, { wallet: WALLET }, caller, services);
  const portfolio = result as { [member: string]: JsonValue };
  expect(caller.counts()).toMatchObject({
    getBalance: 1,
    getTokenAccountsByOwner: 2,
    getProgramAccounts: 1,
  });
  expect(portfolio).toMatchObject({ sol_balance: 2.5, num_tokens: 1, num_nfts: 6 });
  const all = await answerOf(allTokens, { wallet: WALLET }, caller, services);
  expect(portfolio.tokens).toEqual(all.result);
  expect(mintsOf({ nfts: portfolio.nfts as unknown as Shown[] })).toEqual(ALL);
  expect((portfolio.nfts as unknown as Shown[]).find((nft) => nft.mint === mint(10))).toMatchObject({
    ...{
      mintAddress: mint(10),
      uri: documentOf(10),
      sellerFeeBasisPoints: 500,
      updateAuthorityAddress: ANN,
    },
    ...{ name: 'NFT 10', metadata_uri: documentOf(10), is_loaded_metadata: false, jsonLoaded: false },
  });
  expect(new Set(documents.reads())).toEqual(new Set(['https://example.org/coin.json']));
});
