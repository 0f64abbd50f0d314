import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../../protocol/errors.ts';
import type { Account } from '../../solana/account/account.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { programs } from '../../solana/programs.ts';
import { decodeMint } from '../../solana/token/token-state.ts';
import type { Chain } from '../chain/chain.ts';
import { decodeMetaplexMetadata } from '../nft/metadata-accounts.ts';
import { metadataAddresses, metadataProgram } from '../nft/metaplex-addresses.ts';
import { allHoldingsOf, holdingsOfMint, type TokenHolding } from '../token/token-holdings.ts';
import {
  decodeFavorite,
  decodeNameAccount,
  decodeReverseName,
  domainAccount,
  favoriteAccount,
  type NameAccount,
  nameOffsets,
  reverseAccount,
  rootDomain,
  snsPrograms,
} from './name-account.ts';

// If a domain is wrapped as an NFT, the tokenizer's record owns the name account, and the NFT holder owns the domain.
// Source: Bonfida/name-tokenizer, `create_mint.rs` and `create_nft.rs`; rest-api.md §4, "SNS".

const MINT_SEED = Buffer.from('tokenized_name');
const RECORD_SEED = Buffer.from('nft_record');

const domainMintAuthority: Address = findProgramAddress(
  [addressBytes(snsPrograms.tokenizer)],
  snsPrograms.tokenizer,
).address;

export const domainMint = (nameAccount: Address): Address =>
  findProgramAddress([MINT_SEED, addressBytes(nameAccount)], snsPrograms.tokenizer).address;

const domainRecord = (nameAccount: Address): Address =>
  findProgramAddress([RECORD_SEED, addressBytes(nameAccount)], snsPrograms.tokenizer).address;

/** The tokenizer names the NFT after the domain. */
export function nameOfNft(account: Account | undefined): string | null {
  if (account?.owner !== metadataProgram) return null;
  const name = decodeMetaplexMetadata(account.data)?.name ?? '';
  return name === '' ? null : name;
}

const isNft = ({ amount }: TokenHolding): boolean => amount === 1n;

/** The mint of the domain's NFT must exist. */
async function holdsDomain(chain: Chain, wallet: Address, nameAccount: Address): Promise<boolean> {
  const held = await holdingsOfMint(chain, wallet, domainMint(nameAccount));
  return held.some(isNft);
}

/** Domain NFTs use the Token program, not Token-2022. */
async function nftMints(chain: Chain, wallet: Address): Promise<Address[]> {
  const held = await allHoldingsOf(chain, wallet, [programs.token]);
  return held.filter(isNft).map(({ mint }) => mint);
}

export function isDomainMint(account: Account | undefined): boolean {
  if (account?.owner !== programs.token) return false;
  const mint = decodeMint(account.data);
  return mint?.mintAuthority === domainMintAuthority && mint.decimals === 0;
}

type Domain = Readonly<{ address: Address; name: string }>;

/** Finds the domains that these NFTs wrap. A metadata name counts only if the mint address derives from it. */
async function tokenizedDomains(chain: Chain, mints: readonly Address[]): Promise<Domain[]> {
  const metadata = await metadataAddresses(mints);
  const accounts = await chain.accounts(metadata);
  return mints.flatMap((mint, at) => {
    const name = nameOfNft(accounts.get(metadata[at] as Address));
    if (name === null || name.includes('.')) return [];
    const nameAccount = domainAccount(name);
    return domainMint(nameAccount) === mint ? [{ address: nameAccount, name }] : [];
  });
}

/** Limits only the response size. Reading is cheap: 0.1 ms per domain, and one call per 100 domains. */
export const snsLimits = { domainsMax: 10_000 };

/** Number of addresses (about 0.1 ms each) to derive before yielding to the event loop. */
const DERIVED_AT_A_TIME = 32;

export const hasDomains = ({ network }: Chain): boolean => network === 'mainnet-beta';

async function ownedAccounts(
  chain: Chain,
  wallet: Address,
  { domainsMax }: typeof snsLimits,
): Promise<Address[]> {
  const filters = [
    { memcmp: { offset: nameOffsets.parent, bytes: rootDomain } },
    { memcmp: { offset: nameOffsets.owner, bytes: wallet } },
  ];
  const found = await chain.programAccounts(snsPrograms.names, filters, { offset: 0, length: 0 });
  if (found.length > domainsMax) throw new Failure('ANSWER_TOO_LARGE', { facts: { domainsMax } });
  return found.map(({ address }) => address);
}

/**
 * Top-level domains of a wallet, including wrapped domains, sorted by name. Takes two calls, plus one for every 100
 * domains or NFTs. @throws Failure ANSWER_TOO_LARGE.
 */
export async function ownedDomains(
  chain: Chain,
  wallet: Address,
  limits: typeof snsLimits = snsLimits,
): Promise<Domain[]> {
  const [owned, mints] = await Promise.all([ownedAccounts(chain, wallet, limits), nftMints(chain, wallet)]);
  const reverses: Address[] = [];
  for (const address of owned) {
    reverses.push(reverseAccount(address, null));
    if (reverses.length % DERIVED_AT_A_TIME === 0) {
      await nextTurn();
      chain.signal.throwIfAborted();
    }
  }
  const accounts = await chain.accounts([...reverses, ...mints]);
  const named = owned.flatMap((address, at) => {
    const name = decodeReverseName(accounts.get(reverses[at] as Address));
    return name === null ? [] : [{ address, name }];
  });
  const tokenized = await tokenizedDomains(
    chain,
    mints.filter((mint) => isDomainMint(accounts.get(mint))),
  );
  return [...named, ...tokenized].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

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

/** The favorite domain counts only while the wallet owns it. */
async function favoriteName(
  chain: Chain,
  wallet: Address,
  favoriteRecord: Account | undefined,
): Promise<string | null> {
  const address = decodeFavorite(favoriteRecord);
  if (address === null) return null;
  const name = decodeNameAccount((await chain.accounts([address])).get(address));
  if (name === null) return null;
  const isOwn = name.owner === wallet;
  const isNft = !isOwn && name.owner === domainRecord(address);
  if (!isOwn && !(isNft && (await holdsDomain(chain, wallet, address)))) return null;
  return nameOf(chain, address, name);
}

/** Name of a name account; for a wallet, its favorite domain, or else its first domain. */
export async function nameOfAddress(chain: Chain, address: Address): Promise<string | null> {
  const favoriteRecord = favoriteAccount(address);
  const accounts = await chain.accounts([address, favoriteRecord]);
  const own = decodeNameAccount(accounts.get(address));
  if (own !== null) return nameOf(chain, address, own);
  const primaryName = await favoriteName(chain, address, accounts.get(favoriteRecord));
  if (primaryName !== null) return primaryName;
  const [first] = await ownedDomains(chain, address);
  return first?.name ?? null;
}
