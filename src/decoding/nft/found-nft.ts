import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Network } from '../../protocol/call.ts';
import type { Address } from '../../solana/address.ts';
import type { OnChainNft, TokenRecord } from './nft.ts';
import type { NftContent } from './nft-content.ts';

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
