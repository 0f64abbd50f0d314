import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import type { Chain } from '../chain/chain.ts';
import type { FoundNft } from './found-nft.ts';
import { metadataProgram, tokenRecordAddress } from './metaplex-addresses.ts';
import { decodeTokenRecord } from './metaplex-token-record.ts';

/** Where the record of an NFT would be; null for those that have none. */
function recordAddress({ onChain, tokenAccount }: FoundNft): Address | null {
  const isProgrammable = onChain.tokenStandard.startsWith('Programmable');
  return isProgrammable && tokenAccount !== null ? tokenRecordAddress(onChain.mint, tokenAccount) : null;
}

function withRecord(nft: FoundNft, accounts: ReadonlyMap<Address, Account>): FoundNft {
  const at = recordAddress(nft);
  const account = at === null ? undefined : accounts.get(at);
  if (at === null || account?.owner !== metadataProgram) return nft;
  return { ...nft, tokenRecord: decodeTokenRecord(at, account.data) };
}

/** The same NFTs, in the same order, programmable ones with the token record of their owner's token account. */
export async function withTokenRecords(chain: Chain, nfts: readonly FoundNft[]): Promise<FoundNft[]> {
  const recordAddresses = await mapTimeSliced(nfts, recordAddress);
  const accounts = await chain.accounts(recordAddresses.filter((at) => at !== null));
  return mapTimeSliced(nfts, (nft) => withRecord(nft, accounts));
}
