import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Network } from '../../protocol/call.ts';
import type { Address } from '../../solana/address.ts';
import type { NftContent } from './nft-content.ts';

/** In the order of the program's discriminants. Source: mpl-token-metadata, `TokenStandard`. */
export const tokenStandards = [
  'NonFungible',
  'FungibleAsset',
  'Fungible',
  'NonFungibleEdition',
  'ProgrammableNonFungible',
  'ProgrammableNonFungibleEdition',
] as const;
export type TokenStandard = (typeof tokenStandards)[number];

export type Creator = Readonly<{ address: Address; share: number; verified: boolean }>;

export type OnChainNft = Readonly<{
  mint: Address;
  name: string;
  symbol: string;
  metadataUri: string;
  /** Hundredths of a percent. */
  royaltyBasisPoints: number;
  owner: Address | null;
  /** null if absent or unknown. */
  updateAuthority: Address | null;
  creators: readonly Creator[];
  collection: Readonly<{ address: Address; verified: boolean; name?: string; family?: string }> | null;
  traits: readonly Readonly<{ trait: string; value: string }>[];
  primarySaleHappened: boolean;
  isMutable: boolean;
  tokenStandard: TokenStandard;
  merkleTree: Address | null;
  isBurnt: boolean;
}>;

export type TokenRecord = Readonly<{
  address: string;
  key: string;
  state: 'Unlocked' | 'Locked' | 'Listed';
  rule_set_revision: bigint | null;
  delegate: string | null;
  token_delegate_role: string | null;
  locked_transfer: string | null;
}>;

export type FoundNft = Readonly<{
  onChain: OnChainNft;
  /** Off-chain content indexed by DAS; null if DAS has none or if the NFT was read from accounts. */
  content: NftContent | null;
  tokenAccount: Address | null;
  tokenRecord: TokenRecord | null;
}>;

/** Client for Digital Asset Standard (DAS) servers, which index compressed NFTs. */
export interface NftDas {
  has(network: Network): boolean;
  /** @throws Failure UPSTREAM_UNAVAILABLE, or NodeRejection with the server's own error. */
  request(
    network: Network,
    method: string,
    params: { readonly [name: string]: WritableJson },
    signal: AbortSignal,
  ): Promise<JsonValue>;
}

export interface NftOffChain {
  /**
   * Returns the documents that arrive in time. Concurrent reads of a URI share one fetch. Never rejects.
   * @param signal - null: returns what is cached, and loads the rest in the background.
   */
  read(uris: Iterable<string>, signal: AbortSignal | null): Promise<ReadonlyMap<string, JsonValue>>;
  /** Whether a later `read` may return a document that an earlier `read` did not. */
  isLoading(uri: string): boolean;
}
