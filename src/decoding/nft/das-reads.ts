import { chunk } from '../../base/chunk.ts';
import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue, WritableJson } from '../../base/json.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Address } from '../../solana/address.ts';
import { listOf, MalformedJson, objectOf } from '../../solana/encoding/read-json.ts';
import type { Chain } from '../chain/chain.ts';
import { readDasAsset } from './das-asset.ts';
import type { FoundNft, NftDas } from './found-nft.ts';

/** What servers of the Digital Asset Standard API are asked. */
export const dasReadLimits = {
  /** Assets that one getAssetBatch may name, and one page of searchAssets may hold: what servers allow. */
  assetsOfACall: 1_000,
  /** Pages of one wallet that are read. */
  pagesMax: 20,
} as const;

/** Asks and reads; an answer of another form is the server's fault. @throws Failure, NodeRefusal. */
async function readFrom<T>(
  das: NftDas,
  { network, signal }: Chain,
  method: string,
  params: { readonly [name: string]: WritableJson },
  read: (result: JsonValue) => T,
): Promise<T> {
  const result = await das.request(network, method, params, signal);
  try {
    return read(result);
  } catch (thrown) {
    if (!(thrown instanceof MalformedJson)) throw thrown;
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause: thrown });
  }
}

async function assetsOf(items: readonly JsonValue[]): Promise<FoundNft[]> {
  const assets = await mapTimeSliced(items, readDasAsset);
  return assets.filter((asset) => asset !== null);
}

/** Those of the assets that the server knows. @throws Failure, NodeRefusal. */
export async function dasAssets(das: NftDas, chain: Chain, ids: readonly Address[]): Promise<FoundNft[]> {
  const parts = chunk(ids, dasReadLimits.assetsOfACall);
  const requested = new Set(ids);
  const answers = await chain.each(parts, (part) =>
    readFrom(das, chain, 'getAssetBatch', { ids: part }, (result) => listOf(result, 'a list of assets')),
  );
  return (await assetsOf(answers.flat())).filter(({ onChain }) => requested.has(onChain.mint));
}

/** A page, and whether it is the last: servers that hold fewer to a page than was asked say so. */
function pageOf(result: JsonValue): Readonly<{ items: readonly JsonValue[]; isLast: boolean }> {
  const page = objectOf(result, 'searchAssets');
  const items = listOf(page.items, 'items');
  const { assetsOfACall } = dasReadLimits;
  const full = typeof page.limit === 'number' ? Math.min(page.limit, assetsOfACall) : assetsOfACall;
  return { items, isLast: items.length === 0 || items.length < full };
}

/**
 * What a wallet owns of a kind, as the server lists it.
 * @throws Failure ANSWER_TOO_LARGE when that is more than `dasReadLimits` allow, others, NodeRefusal.
 */
export async function dasAssetsOfWallet(
  das: NftDas,
  chain: Chain,
  wallet: Address,
  kind: Readonly<{ compressed: true }> | Readonly<{ interface: 'MplCoreAsset' }>,
): Promise<FoundNft[]> {
  const found: FoundNft[] = [];
  for (let page = 1; page <= dasReadLimits.pagesMax; page++) {
    const params = { ownerAddress: wallet, ...kind, burnt: false, page, limit: dasReadLimits.assetsOfACall };
    const { items, isLast } = await readFrom(das, chain, 'searchAssets', params, pageOf);
    // Nobody owns what is burnt.
    found.push(...(await assetsOf(items)).filter(({ onChain }) => onChain.owner === wallet));
    if (isLast) return found;
  }
  throw new Failure('ANSWER_TOO_LARGE');
}
