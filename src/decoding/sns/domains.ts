import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../../protocol/errors.ts';
import type { Account } from '../../solana/account/account.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { programs } from '../../solana/programs.ts';
import { decodeMint } from '../../solana/token/mint.ts';
import type { Chain } from '../chain/chain.ts';
import { decodeMetaplexMetadata } from '../nft/metadata-accounts.ts';
import { metadataAddresses, metadataProgram } from '../nft/metaplex-addresses.ts';
import { allHoldingsOf, holdingsOfMint, type TokenHolding } from '../token/token-holdings.ts';
import {
  decodeFavourite,
  decodeNameAccount,
  decodeReverseName,
  domainAccount,
  favouriteAccount,
  type NameAccount,
  nameOffsets,
  reverseAccount,
  rootDomain,
  snsPrograms,
} from './name-account.ts';

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

/** A domain with its name account; the name has no ending. */
export type Domain = Readonly<{ address: Address; name: string }>;

/** What telling the domains of one wallet may take. */
export type SnsLimits = Readonly<{
  /** Domains of one wallet that are told; for a wallet with more there is no answer. */
  domainsMax: number;
}>;

/**
 * No configuration sets it: it changes no answer that people need, and only keeps one from growing without end. Each
 * domain takes 0.1 ms and a hundredth of a call.
 */
export const snsLimits: SnsLimits = { domainsMax: 10_000 };

/** Addresses derived between two turns of everything else: each takes about a tenth of a millisecond. */
const DERIVED_AT_A_TIME = 32;

const byName = (a: Domain, b: Domain): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** The name service has its names on mainnet-beta: other networks have none. */
export const hasDomains = ({ network }: Chain): boolean => network === 'mainnet-beta';

async function reverseAccounts(chain: Chain, addresses: readonly Address[]): Promise<Address[]> {
  const derived: Address[] = [];
  for (const address of addresses) {
    derived.push(reverseAccount(address, null));
    if (derived.length % DERIVED_AT_A_TIME === 0) {
      await nextTurn();
      chain.signal.throwIfAborted();
    }
  }
  return derived;
}

/** Name accounts of the first level that belong to a wallet. */
async function ownedAccounts(chain: Chain, wallet: Address, limits: SnsLimits): Promise<Address[]> {
  const filters = [
    { memcmp: { offset: nameOffsets.parent, bytes: rootDomain } },
    { memcmp: { offset: nameOffsets.owner, bytes: wallet } },
  ];
  const found = await chain.programAccounts(snsPrograms.names, filters, { offset: 0, length: 0 });
  const { domainsMax } = limits;
  if (found.length > domainsMax) throw new Failure('ANSWER_TOO_LARGE', { facts: { domainsMax } });
  return found.map(({ address }) => address);
}

/**
 * The domains of the first level that a wallet owns, also those that are NFTs, by name. A domain that nothing names is
 * left out. Two calls for a wallet without any; one more for a hundred domains or NFTs.
 * @throws Failure ANSWER_TOO_LARGE, and what asking throws.
 */
export async function ownedDomains(
  chain: Chain,
  wallet: Address,
  limits: SnsLimits = snsLimits,
): Promise<Domain[]> {
  const [owned, mints] = await Promise.all([ownedAccounts(chain, wallet, limits), nftMints(chain, wallet)]);
  const reverses = await reverseAccounts(chain, owned);
  const accounts = await chain.accounts([...reverses, ...mints]);
  const named = owned.flatMap((address, at) => {
    const name = decodeReverseName(accounts.get(reverses[at] as Address));
    return name === null ? [] : [{ address, name }];
  });
  const tokenized = await tokenizedDomains(
    chain,
    mints.filter((mint) => isDomainMint(accounts.get(mint))),
  );
  return [...named, ...tokenized].sort(byName);
}

/** What a name account of any level is called; null when nothing says. */
async function nameOf(chain: Chain, address: Address, { parent }: NameAccount): Promise<string | null> {
  if (parent === rootDomain) {
    const own = reverseAccount(address, null);
    return decodeReverseName((await chain.accounts([own])).get(own));
  }
  const [own, above] = [reverseAccount(address, parent), reverseAccount(parent, null)];
  const accounts = await chain.accounts([own, above]);
  const [label, of] = [decodeReverseName(accounts.get(own)), decodeReverseName(accounts.get(above))];
  return label === null || of === null ? null : `${label}.${of}`;
}

/** The domain that a wallet wants to be called by, as long as it is the wallet's. */
async function favouriteName(
  chain: Chain,
  wallet: Address,
  favourite: Account | undefined,
): Promise<string | null> {
  const address = decodeFavourite(favourite);
  if (address === null) return null;
  const name = decodeNameAccount((await chain.accounts([address])).get(address));
  if (name === null) return null;
  const isOwn = name.owner === wallet;
  const isNft = !isOwn && name.owner === domainRecord(address);
  if (!isOwn && !(isNft && (await holdsDomain(chain, wallet, address)))) return null;
  return nameOf(chain, address, name);
}

/**
 * What an address is called: a name account as it is named, a wallet as it wants to be called, or else as the first of
 * its domains.
 * @returns null when it has no name.
 */
export async function nameOfAddress(
  chain: Chain,
  address: Address,
  limits: SnsLimits = snsLimits,
): Promise<string | null> {
  const favourite = favouriteAccount(address);
  const accounts = await chain.accounts([address, favourite]);
  const own = decodeNameAccount(accounts.get(address));
  if (own !== null) return nameOf(chain, address, own);
  const primaryName = await favouriteName(chain, address, accounts.get(favourite));
  if (primaryName !== null) return primaryName;
  const [first] = await ownedDomains(chain, address, limits);
  return first?.name ?? null;
}
