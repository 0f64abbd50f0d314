import type { FoundNft, Nft } from '../../decoding/nft/nft.ts';
import { withOffChain } from '../../decoding/nft/show-nft.ts';
import type { Context } from '../endpoint.ts';
import { address, commitment, flag, network } from '../fields.ts';

/** The field `refresh`. */
export const refreshField = () =>
  flag('Read the off-chain JSON anew instead of taking what is kept of it. The chain is always read anew.');

/** The fields of endpoints that list the NFTs of a wallet. */
export const nftWalletFields = {
  network: network(),
  commitment: commitment(),
  address: address('The wallet.'),
  refresh: refreshField(),
};

/** NFTs with their off-chain JSON, read anew where that is wanted. */
export function loadNfts(
  nfts: readonly FoundNft[],
  { services: { offChain }, caller }: Pick<Context, 'services' | 'caller'>,
  refresh = false,
): Promise<Nft[]> {
  if (refresh) for (const { onChain } of nfts) offChain.forget(onChain.metadataUri);
  return withOffChain(nfts, offChain, caller.signal);
}
