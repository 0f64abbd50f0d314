import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at } from '../../packages/localnet/test/ledger/lab.ts';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { Chain } from '../../src/decoding/chain/chain.ts';
import { domainMint, ownedDomains } from '../../src/decoding/sns/domains.ts';
import { domainAccount } from '../../src/decoding/sns/name-account.ts';
import { getDomains } from '../../src/rest-api/wallet/get_domains.ts';
import { resolveAddress } from '../../src/rest-api/wallet/resolve_address.ts';
import type { Address } from '../../src/solana/address.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';
import {
  type AccountEntry,
  domain,
  favourite,
  held,
  keyOf,
  metadata,
  mint,
  mintOf,
  tokenized,
} from './sns-accounts.ts';

const someone = (): Address => at(Keypair.generate().publicKey);

const wallets = {
  owner: someone(),
  favours: someone(),
  stale: someone(),
  collector: someone(),
  soldNft: someone(),
  favoursNft: someone(),
  favoursSubdomain: someone(),
  impostor: someone(),
};

const fakeMint = someone();
const twice = someone();

const placed: AccountEntry[] = [
  ...domain('zebra', wallets.owner),
  ...domain('apple', wallets.owner),
  ...domain('blog.apple', wallets.owner),
  ...domain('first', wallets.favours),
  ...domain('wanted', wallets.favours),
  favourite(wallets.favours, 'wanted'),
  ...domain('sold', someone()),
  ...domain('left', wallets.stale),
  favourite(wallets.stale, 'sold'),
  ...tokenized('token', wallets.collector),
  ...domain('plain', wallets.collector),
  ...tokenized('kept', wallets.favoursNft),
  favourite(wallets.favoursNft, 'kept'),
  favourite(wallets.soldNft, 'token'),
  ...domain('top', someone()),
  ...domain('shop.top', wallets.favoursSubdomain),
  favourite(wallets.favoursSubdomain, 'shop.top'),
  // NFTs that claim to be domains: one with a foreign mint authority, two of one token.
  mint(fakeMint, Keypair.generate().publicKey),
  held(wallets.impostor, fakeMint),
  metadata(fakeMint, 'apple'),
  held(wallets.impostor, mintOf('token'), 0n),
  mint(twice),
  held(wallets.impostor, twice),
  metadata(twice, 'zebra'),
];

let rig: Rig;
let caller: LedgerCaller;
beforeAll(async () => {
  rig = await openRig({ accounts: placed });
});
afterAll(() => rig.close());
beforeEach(() => {
  caller = new LedgerCaller(rig);
});

const domainsOf = async (wallet: Address, fields: object = {}) =>
  (await answerOf(getDomains, { wallet, ...fields }, caller)) as unknown as {
    message: string;
    result: { address: string; name: string }[];
  };
const nameOf = async (fields: { [name: string]: string }) =>
  ((await answerOf(resolveAddress, fields, caller)).result as { name: string }).name;

/** From the SNS SDK. */
it('derives name accounts and NFT mints', () => {
  expect(domainAccount('bonfida')).toBe('Crf8hzfthWGbGbLTVCiqRqV5MVnbpHB1L9KQMd6gsinb');
  expect(domainAccount('dex.bonfida')).toBe('HoFfFXqFHAC8RP3duuQNzag1ieUwJRBv1HtRNiWFq4Qu');
  const nameAccount = '6qJtQdAJvAiSfGXWAuHDteAes6vnFcxtHmLzw1TStCrd' as Address;
  expect(domainMint(nameAccount)).toBe('8dJNBsnM5Zo8RUy94Y9Te1EJa77NXG1T556zpMp8UYnv');
});

describe('wallet/get_domains', () => {
  it('lists top-level domains by name in three calls', async () => {
    const { message, result } = await domainsOf(wallets.owner);
    expect(message).toBe('2 domains fetched successfully');
    expect(result).toEqual([
      { address: keyOf('apple').toBase58(), name: 'apple.sol' },
      { address: keyOf('zebra').toBase58(), name: 'zebra.sol' },
    ]);
    expect(caller.counts()).toEqual({
      getProgramAccounts: 1,
      getTokenAccountsByOwner: 1,
      getMultipleAccounts: 1,
    });
  });

  it('lists domains wrapped as NFTs', async () => {
    expect((await domainsOf(wallets.collector)).result).toEqual([
      { address: keyOf('plain').toBase58(), name: 'plain.sol' },
      { address: keyOf('token').toBase58(), name: 'token.sol' },
    ]);
  });

  it('ignores NFTs that only claim to be a domain', async () => {
    expect((await domainsOf(wallets.impostor)).result).toEqual([]);
  });

  it('returns an empty list in two calls for a wallet without domains', async () => {
    expect(await domainsOf(someone())).toEqual({ message: '0 domains fetched successfully', result: [] });
    expect(caller.counts()).toEqual({ getProgramAccounts: 1, getTokenAccountsByOwner: 1 });
  });

  it('finds nothing on other networks, without calls', async () => {
    expect((await domainsOf(wallets.owner, { network: 'devnet' })).result).toEqual([]);
    const named = failureOf(resolveAddress, { wallet: wallets.owner, network: 'testnet' }, caller);
    expect(await named).toMatchObject({ code: 'DOMAIN_NOT_FOUND' });
    expect(caller.counts()).toEqual({});
  });

  it('fails for a wallet with more domains than the limit', async () => {
    const chain = new Chain('mainnet-beta', caller);
    const input = ownedDomains(chain, wallets.owner, { domainsMax: 1 });
    await expect(input).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE', facts: { domainsMax: 1 } });
  });
});

describe('wallet/resolve_address', () => {
  it('names a name account of any level', async () => {
    expect(await nameOf({ address: keyOf('apple').toBase58() })).toBe('apple.sol');
    expect(await nameOf({ wallet: keyOf('blog.apple').toBase58() })).toBe('blog.apple.sol');
    expect(await nameOf({ address: keyOf('token').toBase58() })).toBe('token.sol');
  });

  it('returns the primary domain of a wallet', async () => {
    expect(await nameOf({ wallet: wallets.favours })).toBe('wanted.sol');
    expect(await nameOf({ wallet: wallets.favoursSubdomain })).toBe('shop.top.sol');
    expect(await nameOf({ wallet: wallets.favoursNft })).toBe('kept.sol');
  });

  it('returns the first domain without a primary domain, or with one that was sold', async () => {
    expect(await nameOf({ wallet: wallets.owner })).toBe('apple.sol');
    expect(await nameOf({ wallet: wallets.stale })).toBe('left.sol');
  });

  it.each([
    ['has nothing', someone()],
    ['sold the NFT of its primary domain', wallets.soldNft],
  ])('returns 404 for a wallet that %s', async (_, wallet) => {
    const failure = await failureOf(resolveAddress, { wallet }, caller);
    expect(failure).toMatchObject({ code: 'DOMAIN_NOT_FOUND', text: `No domain found for ${wallet}` });
  });

  it('requires address or wallet', async () => {
    expect(await failureOf(resolveAddress, {}, caller)).toMatchObject({
      code: 'INVALID_FIELDS',
      problems: [{ field: 'wallet' }],
    });
  });
});
