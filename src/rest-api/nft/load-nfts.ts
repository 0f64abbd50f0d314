import type { FoundNft } from '../../decoding/nft/nft.ts';
import { type Nft, withOffChain } from '../../decoding/nft/show-nft.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Context } from '../endpoint.ts';
import { address, commitment, flag, network } from '../fields.ts';

export const refreshField = () =>
  flag('Reload the off-chain JSON instead of using the cache. On-chain data is never cached.');

export const nftWalletFields = {
  network: network(),
  commitment: commitment(),
  address: address('The wallet.'),
  refresh: refreshField(),
};

export function loadNfts(
  nfts: readonly FoundNft[],
  { services: { offChain }, caller }: Pick<Context, 'services' | 'caller'>,
  refresh = false,
): Promise<Nft[]> {
  if (refresh) for (const { onChain } of nfts) offChain.forget(onChain.metadataUri);
  return withOffChain(nfts, offChain, caller.signal);
}

export const nftListLimits = {
  unpagedMax: 1000,
  searchedMax: 1000,
  groupedMax: 1000,
};

export function assertAtMost(nfts: readonly FoundNft[], most: number): readonly FoundNft[] {
  if (nfts.length > most) throw new Failure('ANSWER_TOO_LARGE');
  return nfts;
}
