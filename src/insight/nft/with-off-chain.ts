import type { FoundNft, NftOffChain } from './found-nft.ts';
import type { Nft } from './nft.ts';

/**
 * The NFTs as the interface shows them, in the same order, with what their off-chain JSON says. What cannot be had in
 * time is shown without (`is_loaded_metadata: false`). To read JSON anew (`refresh`), call `offChain.forget` for each
 * `onChain.metadataUri` first.
 */
export function withOffChain(
  _nfts: readonly FoundNft[],
  _offChain: NftOffChain,
  _signal: AbortSignal,
): Promise<Nft[]> {
  throw new Error('not there yet');
}
