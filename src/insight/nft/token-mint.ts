import type { Address } from '../../ledger/address.ts';
import type { Mint } from '../../ledger/token/mint.ts';
import type { Chain } from '../chain/chain.ts';
import type { OnChainNft } from './nft.ts';

/**
 * A mint of either token program with what is known of it by name. Fungible tokens have metadata too.
 *
 * For `wallet/all_tokens`: `readTokenMints(chain, mints of the wallet's token accounts)`, leave out those with `isNft`,
 * take `metadata.name`, `.symbol` and `.metadataUri` of the others.
 */
export type TokenMint = Readonly<{
  address: Address;
  /** Which token program keeps it. */
  program: Address;
  mint: Mint;
  /** The account's data, for the extensions of Token-2022. */
  data: Uint8Array;
  /** From the metadata account, else from the mint's own extension; null where there is neither. */
  metadata: OnChainNft | null;
  /** Whether it is one of a kind: NFT endpoints show it, token endpoints do not. */
  isNft: boolean;
}>;

/** Those of the addresses that are mints, with their metadata, in one getMultipleAccounts for 50 of them. */
export function readTokenMints(_chain: Chain, _mints: Iterable<Address>): Promise<Map<Address, TokenMint>> {
  throw new Error('not there yet');
}
