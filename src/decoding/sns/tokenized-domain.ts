import type { Account } from '../../solana/account/account.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { programs } from '../../solana/programs.ts';
import { decodeMint } from '../../solana/token/mint.ts';
import type { Chain } from '../chain/chain.ts';
import { metadataAddresses, metadataProgram } from '../nft/metaplex-addresses.ts';
import { decodeMetaplexMetadata } from '../nft/metaplex-metadata.ts';
import { allHoldingsOf, holdingsOfMint, type TokenHolding } from '../token/token-holdings.ts';
import { domainAccount, snsPrograms } from './name-account.ts';

/**
 * Domains that are NFTs. While a domain is one, its name account belongs to the tokenizer's record of it, and the
 * domain to whoever holds the NFT. Source: Bonfida/name-tokenizer, `create_mint.rs` and `create_nft.rs`; rest-api.md
 * §4, "SNS".
 */

const MINT_SEED = Buffer.from('tokenized_name');
const RECORD_SEED = Buffer.from('nft_record');

/** Mints every NFT of a domain, and nothing else. */
const domainMintAuthority: Address = findProgramAddress(
  [addressBytes(snsPrograms.tokenizer)],
  snsPrograms.tokenizer,
).address;

/** The mint of the NFT that a domain is, or would be. */
export const domainMint = (nameAccount: Address): Address =>
  findProgramAddress([MINT_SEED, addressBytes(nameAccount)], snsPrograms.tokenizer).address;

/** What owns the name account of a domain while it is an NFT. */
export const domainRecord = (nameAccount: Address): Address =>
  findProgramAddress([RECORD_SEED, addressBytes(nameAccount)], snsPrograms.tokenizer).address;

/** The tokenizer calls the NFT as the domain is called. @returns null when nothing is told. */
export function nameOfNft(account: Account | undefined): string | null {
  if (account?.owner !== metadataProgram) return null;
  const name = decodeMetaplexMetadata(account.data)?.name ?? '';
  return name === '' ? null : name;
}

const isNft = ({ amount }: TokenHolding): boolean => amount === 1n;

/** Whether a wallet holds the NFT that a domain is. The mint has to exist. @throws Failure, NodeRefusal. */
export async function holdsDomain(chain: Chain, wallet: Address, nameAccount: Address): Promise<boolean> {
  const held = await holdingsOfMint(chain, wallet, domainMint(nameAccount));
  return held.some(isNft);
}

/**
 * Mints of the NFTs that a wallet holds; domains are among those of the first token program.
 * @throws Failure, NodeRefusal.
 */
export async function nftMints(chain: Chain, wallet: Address): Promise<Address[]> {
  const held = await allHoldingsOf(chain, wallet, [programs.token]);
  return held.filter(isNft).map(({ mint }) => mint);
}

/** Whether a mint is that of a domain's NFT. */
export function isDomainMint(account: Account | undefined): boolean {
  if (account?.owner !== programs.token) return false;
  const mint = decodeMint(account.data);
  return mint?.mintAuthority === domainMintAuthority && mint.decimals === 0;
}

/** A domain that is an NFT. */
export type TokenizedDomain = Readonly<{ address: Address; name: string }>;

/** The domains that these NFTs are. What metadata says counts where the mint follows from it, and nowhere else. */
export async function tokenizedDomains(chain: Chain, mints: readonly Address[]): Promise<TokenizedDomain[]> {
  const metadata = await metadataAddresses(mints);
  const accounts = await chain.accounts(metadata);
  return mints.flatMap((mint, at) => {
    const name = nameOfNft(accounts.get(metadata[at] as Address));
    if (name === null || name.includes('.')) return [];
    const nameAccount = domainAccount(name);
    return domainMint(nameAccount) === mint ? [{ address: nameAccount, name }] : [];
  });
}
