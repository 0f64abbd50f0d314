import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Network } from '../../protocol/call.ts';
import type { Address } from '../../solana/address.ts';
import type { NftContent } from './nft-content.ts';

/** How a token of one is kept, in the order of the program's numbers. Source: mpl-token-metadata, `TokenStandard`. */
export const tokenStandards = [
  'NonFungible',
  'FungibleAsset',
  'Fungible',
  'NonFungibleEdition',
  'ProgrammableNonFungible',
  'ProgrammableNonFungibleEdition',
] as const;
/** One of `tokenStandards`, as answers write it. */
export type TokenStandard = (typeof tokenStandards)[number];

/** Who made an NFT, with a share of its royalties in percent, and whether they have signed for it. */
export type Creator = Readonly<{ address: Address; share: number; verified: boolean }>;

/** What the chain says of an NFT, whichever program keeps it: all but what its off-chain JSON adds. */
export type OnChainNft = Readonly<{
  mint: Address;
  name: string;
  symbol: string;
  metadataUri: string;
  /** Hundredths of a percent. */
  royaltyBasisPoints: number;
  /** null when nobody holds it, or it was not looked up. */
  owner: Address | null;
  /** null when nobody may update it. */
  updateAuthority: Address | null;
  creators: readonly Creator[];
  collection: Readonly<{ address: Address; verified: boolean; name?: string; family?: string }> | null;
  /** Traits that stand on the chain (MPL Core's attributes, Token-2022's additional metadata). */
  traits: readonly Readonly<{ trait: string; value: string }>[];
  primarySaleHappened: boolean;
  isMutable: boolean;
  tokenStandard: TokenStandard;
  /** The Merkle tree of a compressed NFT; null for all others. */
  merkleTree: Address | null;
  isBurnt: boolean;
}>;

/** An NFT as the REST interface shows it. Members in this order. Source: rest-api.md §2.12. */
export type Nft = Readonly<{
  name: string;
  symbol: string;
  /** Percent. */
  royalty: number;
  image_uri: string;
  cached_image_uri: string;
  animation_url: string;
  cached_animation_url: string;
  metadata_uri: string;
  description: string;
  mint: string;
  owner: string;
  update_authority: string;
  creators: readonly Creator[];
  collection: Readonly<{ address?: string; verified?: boolean; name?: string; family?: string }>;
  attributes: Readonly<Record<string, JsonValue>>;
  attributes_array: readonly Readonly<{ trait_type: string; value: JsonValue }>[];
  files: readonly Readonly<{ uri: string; type: string }>[];
  external_url: string;
  /** Whether the off-chain JSON was read. */
  is_loaded_metadata: boolean;
  primary_sale_happened: boolean;
  is_mutable: boolean;
  token_standard: TokenStandard;
  is_compressed: boolean;
  merkle_tree: string;
  is_burnt: boolean;
  token_record?: TokenRecord;
}>;

/** What a programmable NFT's token record says. Source: rest-api.md §2.12. */
export type TokenRecord = Readonly<{
  address: string;
  key: string;
  state: 'Unlocked' | 'Locked' | 'Listed';
  /** u64 */
  rule_set_revision: bigint | null;
  delegate: string | null;
  token_delegate_role: string | null;
  locked_transfer: string | null;
}>;

/** An NFT as it was found: what the chain says, and what came along with it. */
export type FoundNft = Readonly<{
  onChain: OnChainNft;
  /** What a server of DAS had read of its off-chain JSON; null for what was read from accounts. */
  content: NftContent | null;
  /** The token account in which its owner holds it; null where there is none, or it was not looked up. */
  tokenAccount: Address | null;
  /** null unless `withTokenRecords` found one. */
  tokenRecord: TokenRecord | null;
}>;

/** Servers of the Digital Asset Standard API: they know compressed NFTs, which no plain node can list. */
export interface NftDas {
  /** Whether a server is configured for the network. */
  has(network: Network): boolean;
  /** @returns the `result`. @throws Failure UPSTREAM_UNAVAILABLE; NodeRefusal with the server's own error. */
  request(
    network: Network,
    method: string,
    params: { readonly [name: string]: WritableJson },
    signal: AbortSignal,
  ): Promise<JsonValue>;
}

/** JSON that tokens and NFTs point at, off the chain. */
export interface NftOffChain {
  /**
   * @param uris - those wanted; each is fetched at most once at a time, whoever asks.
   * @returns what was there, for each that could be had in time. It never rejects.
   */
  read(uris: Iterable<string>, signal: AbortSignal): Promise<ReadonlyMap<string, JsonValue>>;
}
