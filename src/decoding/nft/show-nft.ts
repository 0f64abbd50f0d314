import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue } from '../../base/json.ts';
import type { FoundNft, NftOffChain, OnChainNft } from './nft.ts';
import { type NftContent, readNftContent, type Trait } from './nft-content.ts';

const NOTHING: NftContent = {
  ...{ image: '', animationUrl: '', description: '', externalUrl: '' },
  ...{ traits: [], files: [], collection: {} },
};

const BASIS_POINTS_OF_A_PERCENT = 100;

type NftCollection = Readonly<{ address?: string; verified?: boolean; name?: string; family?: string }>;

/** On-chain names override off-chain names, which anybody can write. */
function toCollection({ collection }: OnChainNft, content: NftContent): NftCollection {
  if (collection === null) return content.collection;
  const { address, verified } = collection;
  const name = collection.name ?? content.collection.name;
  const family = collection.family ?? content.collection.family;
  return {
    ...{ address, verified },
    ...(name === undefined ? {} : { name }),
    ...(family === undefined ? {} : { family }),
  };
}

const toContentFields = (onChain: OnChainNft, { image, animationUrl, description }: NftContent) => ({
  image_uri: image,
  cached_image_uri: image,
  animation_url: animationUrl,
  cached_animation_url: animationUrl,
  metadata_uri: onChain.metadataUri,
  description,
});

/** NFT as shown in a REST response, with members in this order. Source: rest-api.md §2.12. */
export function showNft({ onChain, tokenRecord }: FoundNft, content: NftContent | null) {
  const added = content ?? NOTHING;
  // No prototype, so that any trait name is safe. On-chain traits override off-chain traits.
  const attributes: Record<string, JsonValue> = Object.create(null);
  const all: readonly Trait[] = [...added.traits, ...onChain.traits];
  for (const { trait, value } of all) attributes[trait] = value;
  return {
    name: onChain.name,
    symbol: onChain.symbol,
    royalty: onChain.royaltyBasisPoints / BASIS_POINTS_OF_A_PERCENT,
    ...toContentFields(onChain, added),
    mint: onChain.mint,
    owner: onChain.owner ?? '',
    update_authority: onChain.updateAuthority ?? '',
    creators: onChain.creators.map(({ address, share, verified }) => ({ address, share, verified })),
    collection: toCollection(onChain, added),
    attributes,
    attributes_array: Object.entries(attributes).map(([trait_type, value]) => ({ trait_type, value })),
    files: added.files.map(({ uri, type }) => ({ uri, type })),
    external_url: added.externalUrl,
    is_loaded_metadata: content !== null,
    primary_sale_happened: onChain.primarySaleHappened,
    is_mutable: onChain.isMutable,
    token_standard: onChain.tokenStandard,
    is_compressed: onChain.merkleTree !== null,
    merkle_tree: onChain.merkleTree ?? '',
    is_burnt: onChain.isBurnt,
    ...(tokenRecord === null ? {} : { token_record: tokenRecord }),
  };
}

export type Nft = ReturnType<typeof showNft>;

function contentOf({ onChain, content }: FoundNft, read: ReadonlyMap<string, JsonValue>): NftContent | null {
  const json = read.get(onChain.metadataUri);
  return content ?? (json === undefined ? null : readNftContent(json));
}

/** `is_loaded_metadata` is false for NFTs whose document misses the deadline. */
export async function withOffChain(
  nfts: readonly FoundNft[],
  offChain: Pick<NftOffChain, 'read'>,
  signal: AbortSignal,
): Promise<Nft[]> {
  const uris = nfts
    .filter(({ content, onChain }) => content === null && onChain.metadataUri !== '')
    .map(({ onChain }) => onChain.metadataUri);
  const read = await offChain.read(new Set(uris), signal);
  return mapTimeSliced(nfts, (nft) => showNft(nft, contentOf(nft, read)));
}
