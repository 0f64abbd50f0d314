import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { mint, tokenAccount } from '../../packages/localnet/test/support/accounts.ts';
import { ByteWriter } from '../../src/base/bytes.ts';
import { parseTokenList } from '../../src/decoding/token/token-list.ts';
import { allTokens } from '../../src/rest-api/wallet/all_tokens.ts';
import { getPortfolio } from '../../src/rest-api/wallet/get_portfolio.ts';
import { tokenBalance } from '../../src/rest-api/wallet/token_balance.ts';
import type { Account } from '../../src/solana/account/account.ts';
import type { Address } from '../../src/solana/address.ts';
import { answerOf, LedgerCaller } from './ledger-caller.ts';
import { Documents, tokenServices } from './token-fixtures.ts';

/**
 * Needs ../shared/data/rest/token-accounts (getTokenAccountsByOwner of mainnet wallets in jsonParsed) and
 * verified_tokens.json.
 */
const folder = join(import.meta.dirname, '../../../shared/data/rest');
const present = existsSync(join(folder, 'token-accounts'));

type Recorded = {
  pubkey: Address;
  account: {
    owner: Address;
    data: {
      parsed: {
        info: {
          mint: Address;
          owner: Address;
          state: string;
          tokenAmount: { amount: string; decimals: number; uiAmount: number };
          extensions?: { extension: string; state?: { withheldAmount: number } }[];
        };
      };
    };
  };
};

const files = present ? readdirSync(join(folder, 'token-accounts')) : [];
const recorded: Recorded[] = files.flatMap(
  (file) => JSON.parse(readFileSync(join(folder, 'token-accounts', file), 'utf8')).result.value,
);
const infoOf = ({ account }: Recorded) => account.data.parsed.info;
const wallets = [...new Set(recorded.map((one) => infoOf(one).owner))];

/** Account bytes of a parsed account. */
function bytesOf(one: Recorded): Account {
  const { mint: of, owner, tokenAmount, extensions } = infoOf(one);
  const bare = tokenAccount(of, owner, BigInt(tokenAmount.amount), null, one.account.owner);
  if (extensions === undefined) return bare;
  const writer = new ByteWriter().bytes(bare.data).u8(2);
  for (const { extension, state } of extensions) {
    if (extension === 'immutableOwner') writer.u16(7).u16(0);
    else writer.u16(2).u16(8).u64(BigInt(state!.withheldAmount));
  }
  return { ...bare, data: writer.finish() };
}

const mintOf = (one: Recorded): readonly [Address, Account] => {
  const { mint: of, tokenAmount } = infoOf(one);
  return [of, mint(10n ** 18n, tokenAmount.decimals, one.account.owner)];
};

let rig: Rig;
describe.skipIf(!present)('mainnet wallets (../shared/data, token-accounts)', () => {
  const list = present
    ? parseTokenList(readFileSync(join(folder, 'verified_tokens.json'), 'utf8'))
    : parseTokenList('[]');
  const services = tokenServices(new Documents(), list);
  beforeAll(async () => {
    const accounts = new Map<Address, Account>(recorded.map(mintOf));
    for (const one of recorded) accounts.set(one.pubkey, bytesOf(one));
    rig = await openRig({ accounts: [...accounts] });
    rig.freeze();
  });
  afterAll(() => rig.close());

  it('are all present', () => {
    expect([files.length, wallets.length, recorded.length]).toEqual([7, 5, 55]);
  });

  it.each(wallets)('%s has the recorded balances', async (wallet) => {
    const held = recorded.filter(
      (one) => infoOf(one).owner === wallet && infoOf(one).tokenAmount.uiAmount > 0,
    );
    const caller = new LedgerCaller(rig);
    const { message, result } = await answerOf(allTokens, { wallet }, caller, services);
    expect(caller.counts()).toEqual({ getTokenAccountsByOwner: 2, getMultipleAccounts: 1 });
    expect(message).toBe(`${held.length} tokens fetched successfully`);
    const actual = result as { address: string; associated_account: string; balance: number }[];
    const balances = actual.map(({ address, associated_account, balance }) => [
      associated_account,
      address,
      balance,
    ]);
    expect(Object.fromEntries(balances.map((one) => [one[0], one.slice(1)]))).toEqual(
      Object.fromEntries(
        held.map((one) => [one.pubkey, [infoOf(one).mint, infoOf(one).tokenAmount.uiAmount]]),
      ),
    );
  });

  it('have the same balance when requested alone', async () => {
    for (const one of recorded) {
      const { owner: wallet, mint: token, tokenAmount } = infoOf(one);
      const { result } = await answerOf(tokenBalance, { wallet, token }, new LedgerCaller(rig), services);
      expect(result).toMatchObject({ address: token, balance: tokenAmount.uiAmount });
    }
  });

  it('use names of the verified list', async () => {
    const actual = await Promise.all(
      wallets.map((wallet) => answerOf(allTokens, { wallet }, new LedgerCaller(rig), services)),
    );
    const tokens = actual.flatMap(
      ({ result }) => result as { address: Address; info: { name: string; symbol: string; image: string } }[],
    );
    const named = tokens.filter(({ address }) => list.find(address) !== null);
    expect(named.length).toBeGreaterThan(3);
    for (const { address, info } of named) expect(info).toMatchObject(list.find(address)!);
    const unnamed = tokens.filter(({ address }) => list.find(address) === null);
    for (const { info } of unnamed) expect(info).toMatchObject({ name: 'Unknown Token', symbol: 'Token' });
  });

  it('read each account once for a portfolio', async () => {
    const [wallet] = wallets;
    const caller = new LedgerCaller(rig);
    const { result } = await answerOf(getPortfolio, { wallet: wallet! }, caller, services);
    expect(result).toMatchObject({ num_nfts: 0, nfts: [] });
    const read = caller.calls.flatMap(({ method, params }) =>
      method === 'getMultipleAccounts' ? (params[0] as string[]) : [],
    );
    expect(new Set(read).size).toBe(read.length);
    expect(caller.counts()).toMatchObject({
      getBalance: 1,
      getTokenAccountsByOwner: 2,
      getProgramAccounts: 1,
    });
  });
});
