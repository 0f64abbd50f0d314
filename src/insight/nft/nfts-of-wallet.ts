import type { Address } from '../../ledger/address.ts';
import type { Chain } from '../chain/chain.ts';
import type { FoundNft, NftDas } from './found-nft.ts';

/**
 * Every NFT that a wallet owns, by mint in the order of their text, so that pages stay where they are: tokens of both
 * token programs, assets of MPL Core, and compressed ones where a server of DAS is configured (no plain node can list
 * those).
 *
 * For `nft/read_all`, `nft/search` and `wallet/collections`: filter by `onChain`, cut the page, and only then call
 * `withOffChain` for that page. Verified collections have `onChain.collection.name`.
 *
 * @throws Failure, NodeRefusal.
 */
export function nftsOfWallet(_chain: Chain, _das: NftDas | null, _wallet: Address): Promise<FoundNft[]> {
  throw new Error('not there yet');
}
