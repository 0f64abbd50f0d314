import type { FoundNft } from '../../decoding/nft/nft.ts';
import { Failure } from '../../protocol/errors.ts';

/** How many NFTs of a wallet one answer shows, or looks into, whose off-chain JSON is read for it. */
export const nftListLimits = {
  /** Of nft/read_all in its first version, which has no pages. */
  unpagedMax: 1000,
  /** Of a search by attributes, before the attributes are looked at. */
  searchedMax: 1000,
  /** Of wallet/collections. */
  groupedMax: 1000,
};

/** The NFTs. @throws Failure ANSWER_TOO_LARGE when they are more. */
export function atMost(nfts: readonly FoundNft[], most: number): readonly FoundNft[] {
  if (nfts.length > most) throw new Failure('ANSWER_TOO_LARGE');
  return nfts;
}
