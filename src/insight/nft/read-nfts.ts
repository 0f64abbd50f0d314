import type { Address } from '../../ledger/address.ts';
import type { Chain } from '../chain/chain.ts';
import type { FoundNft, NftDas } from './found-nft.ts';

/**
 * NFTs by their addresses: mints with metadata (of the metadata program or of Token-2022), assets and collections of
 * MPL Core, and compressed ones where a server of DAS is configured. Owners are looked up.
 *
 * For `nft/read` and `nft/read_selected`:
 *
 *     const found = await readNfts(chain, mints, services.das);
 *     const nfts = mints.flatMap((mint) => found.get(mint) ?? []);   // absent: NFT_NOT_FOUND, or left out
 *     const shown = await withOffChain(token_record ? await withTokenRecords(chain, nfts) : nfts, services.offChain, signal);
 *
 * @returns those that are there, by mint.
 * @throws Failure, NodeRefusal.
 */
export function readNfts(
  _chain: Chain,
  _mints: Iterable<Address>,
  _das: NftDas | null,
): Promise<Map<Address, FoundNft>> {
  throw new Error('not there yet');
}
