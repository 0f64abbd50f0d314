import type { Chain } from '../chain/chain.ts';
import type { FoundNft } from './found-nft.ts';

/** The same NFTs, in the same order, programmable ones with the token record of their owner's token account. */
export function withTokenRecords(_chain: Chain, _nfts: readonly FoundNft[]): Promise<FoundNft[]> {
  throw new Error('not there yet');
}
