import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../../protocol/errors.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import type { Chain } from '../chain/chain.ts';
import {
  decodeFavourite,
  decodeNameAccount,
  decodeReverseName,
  favouriteAccount,
  type NameAccount,
  nameOffsets,
  reverseAccount,
  rootDomain,
  snsPrograms,
} from './name-account.ts';
import { domainRecord, holdsDomain, isDomainMint, nftMints, tokenizedDomains } from './tokenized-domain.ts';

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
