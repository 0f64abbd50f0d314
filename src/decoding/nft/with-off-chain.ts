import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue } from '../../base/json.ts';
import type { FoundNft, NftOffChain } from './found-nft.ts';
import type { Nft } from './nft.ts';
import { type NftContent, readNftContent } from './nft-content.ts';
import { showNft } from './show-nft.ts';

function contentOf({ onChain, content }: FoundNft, read: ReadonlyMap<string, JsonValue>): NftContent | null {
  const json = read.get(onChain.metadataUri);
  return content ?? (json === undefined ? null : readNftContent(json));
}

/**
 * The NFTs as the interface shows them, in the same order, with what their off-chain JSON says. What cannot be had in
 * time is shown without (`is_loaded_metadata: false`). To read JSON anew (`refresh`), call `offChain.forget` for each
 * `onChain.metadataUri` first; what a server of DAS had read already is shown as it says.
 */
export async function withOffChain(
  nfts: readonly FoundNft[],
  offChain: NftOffChain,
  signal: AbortSignal,
): Promise<Nft[]> {
  const uris = nfts
    .filter(({ content, onChain }) => content === null && onChain.metadataUri !== '')
    .map(({ onChain }) => onChain.metadataUri);
  const read = await offChain.read(new Set(uris), signal);
  return mapTimeSliced(nfts, (nft) => showNft(nft, contentOf(nft, read)));
}
