import { chunk } from '../../base/chunk.ts';
import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue, WritableJson } from '../../base/json.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Address } from '../../solana/address.ts';
import { type JsonMembers, listOf, objectOf } from '../../solana/encoding/read-json.ts';
import { type Chain, decodeResult } from '../chain/chain.ts';
import { addressOf, itemsOf, membersOf, textOf, textWithin } from '../lenient-json.ts';
import {
  type Creator,
  type FoundNft,
  type NftDas,
  type OnChainNft,
  type TokenStandard,
  tokenStandards,
} from './nft.ts';
import { type NftContent, nftContentLimits, readFiles, readTraits } from './nft-content.ts';

const ENTRIES_MAX = 100;

const { descriptionMax, uriMax, textMax } = nftContentLimits;

const standardOfInterface: ReadonlyMap<string, TokenStandard> = new Map([
  ['ProgrammableNFT', 'ProgrammableNonFungible'],
  ['V1_PRINT', 'NonFungibleEdition'],
  ['FungibleAsset', 'FungibleAsset'],
  ['FungibleToken', 'Fungible'],
]);

function standardOf(asset: JsonMembers, metadata: JsonMembers): TokenStandard {
  const declared = tokenStandards.find((standard) => standard === metadata.token_standard);
  return declared ?? standardOfInterface.get(textOf(asset.interface, textMax)) ?? 'NonFungible';
}

function creatorOf(value: JsonValue): Creator[] {
  const creator = membersOf(value);
  const address = addressOf(creator.address);
  if (address === null) return [];
  const share = Number.isInteger(creator.share) ? Number(creator.share) : 0;
  return [{ address, share, verified: creator.verified === true }];
}

/** A collection in `grouping` counts as verified, unless the server says `verified: false`. */
function collectionOf(grouping: JsonValue | undefined): OnChainNft['collection'] {
  for (const entry of itemsOf(grouping, ENTRIES_MAX)) {
    const { group_key, group_value, verified, collection_metadata } = membersOf(entry);
    const address = group_key === 'collection' ? addressOf(group_value) : null;
    if (address === null) continue;
    const name = textOf(membersOf(collection_metadata).name, textMax);
    return { address, verified: verified !== false, ...(name === '' ? {} : { name }) };
  }
  return null;
}

function basisPointsOf(royalty: JsonMembers): number {
  const points = royalty.basis_points;
  return typeof points === 'number' && Number.isInteger(points) && points >= 0 ? points : 0;
}

const treeOf = ({ compressed, tree }: JsonMembers): Address | null =>
  compressed === true ? addressOf(tree) : null;

function onChainOf(mint: Address, asset: JsonMembers, metadata: JsonMembers): OnChainNft {
  const content = membersOf(asset.content);
  const royalty = membersOf(asset.royalty);
  const isBurnt = asset.burnt === true;
  return {
    mint,
    name: textOf(metadata.name, textMax),
    symbol: textOf(metadata.symbol, textMax),
    metadataUri: textWithin(content.json_uri, uriMax),
    royaltyBasisPoints: basisPointsOf(royalty),
    owner: isBurnt ? null : addressOf(membersOf(asset.ownership).owner),
    updateAuthority: addressOf(membersOf(itemsOf(asset.authorities, 1)[0]).address),
    creators: itemsOf(asset.creators, ENTRIES_MAX).flatMap(creatorOf),
    collection: collectionOf(asset.grouping),
    traits: [],
    primarySaleHappened: royalty.primary_sale_happened === true,
    isMutable: asset.mutable === true,
    tokenStandard: standardOf(asset, metadata),
    merkleTree: treeOf(membersOf(asset.compression)),
    isBurnt,
  };
}

function contentOf(content: JsonMembers, metadata: JsonMembers): NftContent | null {
  const links = membersOf(content.links);
  const read = {
    image: textWithin(links.image, uriMax),
    animationUrl: textWithin(links.animation_url, uriMax),
    description: textOf(metadata.description, descriptionMax),
    externalUrl: textWithin(links.external_url, uriMax),
    traits: readTraits(metadata.attributes),
    files: readFiles(content.files, 'mime'),
    collection: {},
  };
  const { image, animationUrl, description, externalUrl, traits, files } = read;
  const isNothing = `${image}${animationUrl}${description}${externalUrl}` === '';
  return isNothing && traits.length === 0 && files.length === 0 ? null : read;
}

export function readDasAsset(value: JsonValue): FoundNft | null {
  const asset = membersOf(value);
  const mint = addressOf(asset.id);
  if (mint === null) return null;
  const content = membersOf(asset.content);
  const metadata = membersOf(content.metadata);
  return {
    onChain: onChainOf(mint, asset, metadata),
    content: contentOf(content, metadata),
    tokenAccount: null,
    tokenRecord: null,
  };
}

/** Maximum number of assets that servers allow per getAssetBatch call and per searchAssets page. */
const ASSETS_PER_CALL = 1_000;
const PAGES_PER_WALLET_MAX = 20;

async function readFrom<T>(
  das: NftDas,
  { network, signal }: Chain,
  method: string,
  params: { readonly [name: string]: WritableJson },
  read: (result: JsonValue) => T,
): Promise<T> {
  return decodeResult(await das.request(network, method, params, signal), read);
}

async function assetsOf(items: readonly JsonValue[]): Promise<FoundNft[]> {
  const assets = await mapTimeSliced(items, readDasAsset);
  return assets.filter((asset) => asset !== null);
}

/** Reads assets by ID. Servers omit assets that they do not have. */
export async function dasAssets(das: NftDas, chain: Chain, ids: readonly Address[]): Promise<FoundNft[]> {
  const parts = chunk(ids, ASSETS_PER_CALL);
  const requested = new Set(ids);
  const results = await chain.each(parts, (part) =>
    readFrom(das, chain, 'getAssetBatch', { ids: part }, (result) => listOf(result, 'a list of assets')),
  );
  return (await assetsOf(results.flat())).filter(({ onChain }) => requested.has(onChain.mint));
}

/** A page that is not full is the last page. Servers with smaller pages report their own limit. */
function pageOf(result: JsonValue): Readonly<{ items: readonly JsonValue[]; isLast: boolean }> {
  const page = objectOf(result, 'searchAssets');
  const items = listOf(page.items, 'items');
  const full = typeof page.limit === 'number' ? Math.min(page.limit, ASSETS_PER_CALL) : ASSETS_PER_CALL;
  return { items, isLast: items.length === 0 || items.length < full };
}

export async function dasAssetsOfWallet(
  das: NftDas,
  chain: Chain,
  wallet: Address,
  kind: Readonly<{ compressed: true }> | Readonly<{ interface: 'MplCoreAsset' }>,
): Promise<FoundNft[]> {
  const found: FoundNft[] = [];
  for (let page = 1; page <= PAGES_PER_WALLET_MAX; page++) {
    const params = { ownerAddress: wallet, ...kind, burnt: false, page, limit: ASSETS_PER_CALL };
    const { items, isLast } = await readFrom(das, chain, 'searchAssets', params, pageOf);
    // Also drops burnt assets, which have no owner.
    found.push(...(await assetsOf(items)).filter(({ onChain }) => onChain.owner === wallet));
    if (isLast) return found;
  }
  throw new Failure('ANSWER_TOO_LARGE');
}
