import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import { Chain } from '../../src/decoding/chain/chain.ts';
import { domainMint, ownedDomains } from '../../src/decoding/sns/domains.ts';
import { domainAccount } from '../../src/decoding/sns/name-account.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { getDomains } from '../../src/rest-api/wallet/get_domains.ts';
import { resolveAddress } from '../../src/rest-api/wallet/resolve_address.ts';
import type { Account } from '../../src/solana/account/account.ts';
import type { Address } from '../../src/solana/address.ts';
import { at } from '../localnet/ledger/lab.ts';
import { openRig, type Rig } from '../localnet/rig.ts';
import { type Answering, answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';
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

/** Needs ../shared/data/rest/sns-vectors.json: what the name service's own SDK holds for true. */
const file = join(import.meta.dirname, '../../../shared/data/rest/sns-vectors.json');
const present = existsSync(file);

type Vectors = {
  derivation: { name: string; nameAccount: string }[];
  nftMint: { nameAccount: Address; mint: string }[];
  domainsForOwner: { [wallet: Address]: string[] };
  primary: { wallet: Address; nameAccount?: string; name: string; stale?: boolean; tokenized?: boolean }[];
};

const empty: Vectors = { derivation: [], nftMint: [], domainsForOwner: {}, primary: [] };
const vectors: Vectors = present ? JSON.parse(readFileSync(file, 'utf8')) : empty;

const someone = (): Address => at(Keypair.generate().publicKey);

/** Who has what in the ledger of these tests. */
const people = {
  owner: someone(),
  favours: someone(),
  stale: someone(),
  collector: someone(),
  soldNft: someone(),
  favoursNft: someone(),
  favoursSubdomain: someone(),
  liar: someone(),
  stranger: someone(),
  poor: someone(),
};

const fakeMint = someone();
const twice = someone();

const placed: AccountEntry[] = [
  ...domain('zebra', people.owner),
  ...domain('apple', people.owner),
  ...domain('blog.apple', people.owner),
  ...domain('first', people.favours),
  ...domain('wanted', people.favours),
  favourite(people.favours, 'wanted'),
  ...domain('sold', someone()),
  ...domain('left', people.stale),
  favourite(people.stale, 'sold'),
  ...tokenized('token', people.collector),
  ...domain('plain', people.collector),
  ...tokenized('kept', people.favoursNft),
  favourite(people.favoursNft, 'kept'),
  favourite(people.soldNft, 'token'),
  ...domain('top', someone()),
  ...domain('shop.top', people.favoursSubdomain),
  favourite(people.favoursSubdomain, 'shop.top'),
  // NFTs that say they are domains: one that anybody minted, and two of one token.
  mint(fakeMint, Keypair.generate().publicKey),
  held(people.liar, fakeMint),
  metadata(fakeMint, 'apple'),
  held(people.stranger, fakeMint),
  held(people.liar, mintOf('token'), 0n),
  mint(twice),
  held(people.liar, twice),
  metadata(twice, 'zebra'),
  // A domain that nothing names.
  domain('nameless', people.poor)[0]!,
];

let rig: Rig;
let caller: LedgerCaller;
beforeAll(async () => {
  const accounts = new Map(placed);
  for (const [wallet, names] of Object.entries(vectors.domainsForOwner)) {
    for (const name of names)
      for (const [key, value] of domain(name, wallet as Address)) accounts.set(key, value);
  }
  for (const { wallet, name, stale, tokenized: isNft } of vectors.primary) {
    const made = isNft ? tokenized(name, wallet) : domain(name, stale ? someone() : wallet);
    for (const [key, value] of [...made, favourite(wallet, name)]) accounts.set(key, value);
  }
  rig = await openRig({ accounts: [...accounts] });
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

/** A node that tells of this account whoever's token accounts are asked for. */
function tellingHeld({ data, owner }: Account): Answering {
  const account = { lamports: 1, data: [Buffer.from(data).toString('base64'), 'base64'], owner };
  const value = [{ pubkey: someone(), account: { ...account, executable: false, rentEpoch: 0 } }];
  return ({ method }) =>
    method === 'getTokenAccountsByOwner'
      ? Promise.resolve({ context: { slot: 1 }, value } as unknown as JsonValue)
      : undefined;
}

describe.skipIf(!present)('the vectors of the name service (../shared/data/rest/sns-vectors.json)', () => {
  it('are all there', () => {
    const { derivation, nftMint, primary } = vectors;
    expect([derivation.length, nftMint.length, primary.length]).toEqual([11, 2, 4]);
  });

  it.each(vectors.derivation)('derive the name account of $name', ({ name, nameAccount }) => {
    expect(domainAccount(name)).toBe(nameAccount);
  });

  it.each(vectors.nftMint)('derive the mint of the NFT of $nameAccount', ({ nameAccount, mint: nft }) => {
    expect(domainMint(nameAccount)).toBe(nft);
  });

  it.each(Object.entries(vectors.domainsForOwner))('list the domains of %s', async (wallet, names) => {
    const { result } = await domainsOf(wallet as Address);
    expect(result).toEqual(
      [...names].sort().map((name) => ({ address: keyOf(name).toBase58(), name: `${name}.sol` })),
    );
  });

  it.each(vectors.primary)('name the primary domain of $wallet', async ({ wallet, name, stale }) => {
    if (stale)
      expect(await failureOf(resolveAddress, { wallet }, caller)).toMatchObject({ code: 'DOMAIN_NOT_FOUND' });
    else expect(await nameOf({ wallet })).toBe(`${name}.sol`);
  });
});

describe('wallet/get_domains', () => {
  it('lists the domains of the first level by name, in three calls', async () => {
    const { message, result } = await domainsOf(people.owner);
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

  it('lists domains that are NFTs beside the others', async () => {
    expect((await domainsOf(people.collector)).result).toEqual([
      { address: keyOf('plain').toBase58(), name: 'plain.sol' },
      { address: keyOf('token').toBase58(), name: 'token.sol' },
    ]);
  });

  it('believes no NFT that only says that it is a domain', async () => {
    expect((await domainsOf(people.liar)).result).toEqual([]);
  });

  it.each([
    ['of somebody else', () => held(people.collector, mintOf('token'))[1]],
    ['of no token program', (wallet: Address) => ({ ...held(wallet, mintOf('token'))[1], owner: wallet })],
  ])('believes no node that calls a token account %s the wallet’s', async (_, accountOf) => {
    caller.answering = tellingHeld(accountOf(people.liar));
    expect((await domainsOf(people.liar)).result).toEqual([]);
    caller.answering = tellingHeld(accountOf(people.soldNft));
    const failure = await failureOf(resolveAddress, { wallet: people.soldNft }, caller);
    expect(failure).toMatchObject({ code: 'DOMAIN_NOT_FOUND' });
  });

  it('asks what NFTs are called only where they may be domains', async () => {
    expect((await domainsOf(people.stranger)).result).toEqual([]);
    expect(caller.counts()).toMatchObject({ getMultipleAccounts: 1 });
  });

  it('lists nothing, in two calls, for a wallet without domains', async () => {
    expect(await domainsOf(someone())).toEqual({ message: '0 domains fetched successfully', result: [] });
    expect(caller.counts()).toEqual({ getProgramAccounts: 1, getTokenAccountsByOwner: 1 });
  });

  it('leaves a domain out that nothing names', async () => {
    expect((await domainsOf(people.poor)).result).toEqual([]);
  });

  it('lists nothing on other networks, and asks nobody', async () => {
    expect((await domainsOf(people.owner, { network: 'devnet' })).result).toEqual([]);
    expect(caller.counts()).toEqual({});
  });

  it('ends names as the operator says', async () => {
    const settings = { historyDays: 4, domainSuffix: '.sns' };
    const { result } = await answerOf(getDomains, { wallet: people.favours }, caller, { settings });
    expect(result).toMatchObject([{ name: 'first.sns' }, { name: 'wanted.sns' }]);
  });

  it.each(['getProgramAccounts', 'getTokenAccountsByOwner', 'getMultipleAccounts'])(
    'fails when %s does, and does not take that for none',
    async (failing) => {
      caller.answering = ({ method }) =>
        method === failing ? Promise.reject(new Failure('UPSTREAM_UNAVAILABLE')) : undefined;
      const failure = await failureOf(getDomains, { wallet: people.owner }, caller);
      expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    },
  );

  it('has no answer for a wallet with more domains than it tells', async () => {
    const chain = new Chain('mainnet-beta', caller);
    const asked = ownedDomains(chain, people.owner, { domainsMax: 1 });
    await expect(asked).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE', facts: { domainsMax: 1 } });
  });

  it('stops when the caller has left', async () => {
    const many = Array.from({ length: 40 }, () => ({
      pubkey: someone(),
      account: { lamports: 1, data: ['', 'base64'], owner: people.owner, executable: false, rentEpoch: 0 },
    }));
    caller.answering = ({ method }) => {
      caller.leaving.abort(new Failure('CLIENT_GONE'));
      return method === 'getProgramAccounts' ? Promise.resolve(many) : undefined;
    };
    expect(await failureOf(getDomains, { wallet: people.owner }, caller)).toMatchObject({
      code: 'CLIENT_GONE',
    });
    expect(caller.counts()).not.toHaveProperty('getMultipleAccounts');
  });
});

describe('wallet/resolve_address', () => {
  it('names a name account of any level', async () => {
    expect(await nameOf({ address: keyOf('apple').toBase58() })).toBe('apple.sol');
    expect(await nameOf({ wallet: keyOf('blog.apple').toBase58() })).toBe('blog.apple.sol');
    expect(await nameOf({ address: keyOf('token').toBase58() })).toBe('token.sol');
  });

  it('lets address win over wallet', async () => {
    const both = { address: keyOf('apple').toBase58(), wallet: people.favours };
    expect(await nameOf(both)).toBe('apple.sol');
  });

  it('calls a wallet as it wants to be called', async () => {
    expect(await nameOf({ wallet: people.favours })).toBe('wanted.sol');
    expect(await nameOf({ wallet: people.favoursSubdomain })).toBe('shop.top.sol');
    expect(await nameOf({ wallet: people.favoursNft })).toBe('kept.sol');
  });

  it('calls a wallet by the first of its domains when it wants none, or one that is no longer its own', async () => {
    expect(await nameOf({ wallet: people.owner })).toBe('apple.sol');
    expect(await nameOf({ wallet: people.stale })).toBe('left.sol');
  });

  it.each([
    ['has nothing', someone()],
    ['sold the NFT of its primary domain', people.soldNft],
    ['has a domain that nothing names', people.poor],
  ])('finds nothing for a wallet that %s', async (_, wallet) => {
    const failure = await failureOf(resolveAddress, { wallet }, caller);
    expect(failure).toMatchObject({ code: 'DOMAIN_NOT_FOUND', text: `No domain found for ${wallet}` });
  });

  it('finds nothing on other networks, and asks nobody', async () => {
    const asked = { wallet: people.owner, network: 'testnet' };
    expect(await failureOf(resolveAddress, asked, caller)).toMatchObject({ code: 'DOMAIN_NOT_FOUND' });
    expect(caller.counts()).toEqual({});
  });

  it('wants one of the two', async () => {
    expect(await failureOf(resolveAddress, {}, caller)).toMatchObject({
      code: 'INVALID_FIELDS',
      problems: [{ field: 'wallet' }],
    });
    expect(await failureOf(resolveAddress, { address: 'x' }, caller)).toMatchObject({
      problems: [{ field: 'address' }],
    });
  });
});
