import { describe, expect, it } from 'vitest';
import { type Address, addressBytes } from '../../../src/solana/address.ts';
import { findProgramAddress, u64Seed } from '../../../src/solana/program-address.ts';
import { programs } from '../../../src/solana/programs.ts';
import { accountsOf, dataOf, marketplaces, PRICE, SOL, USDC } from './instruction-rows.ts';
import { actionsOf, executedTransaction, holding, someone } from './transaction-builder.ts';

const program = marketplaces.auctionHouse;
const nft = someone(9);

const OFFERS = {
  sell: ['wallet token 2 market 1 state', '1 2 3 P 1:64'],
  cancel: ['wallet token nft 1 market 1 state', 'P 1:64'],
  auctioneer_cancel: ['wallet token nft 2 market 1 state', 'P 1:64'],
} as const;

type Options = Readonly<{ owner?: Address | null; currency?: Address; open?: boolean; associated?: boolean }>;

/** Actions of an offer at its trade state (`find_trade_state_address`); a public bid has no token account. */
function offered(name: keyof typeof OFFERS, options: Options = {}) {
  const [names, args] = OFFERS[name];
  const { accounts, at } = accountsOf(names, program);
  const wallet = at.wallet as Address;
  const { owner = wallet, currency = SOL, open = false, associated = false } = options;
  const associatedSeeds = [wallet, programs.token, nft].map(addressBytes);
  const token = associated
    ? findProgramAddress(associatedSeeds, programs.ata).address
    : (at.token as Address);
  const keys = [wallet, at.market as Address, ...(open ? [] : [token]), currency, nft].map(addressBytes);
  const seeds = [Buffer.from('auction_house'), ...keys, u64Seed(PRICE), u64Seed(1n)];
  const placed = new Map([
    [at.state, findProgramAddress(seeds, program).address],
    [at.nft, nft],
    [at.token, token],
  ]);
  const run = executedTransaction(
    [{ program, accounts: accounts.map((one) => placed.get(one) ?? one), data: dataOf(name, args) }],
    {
      decimals: new Map([[USDC, 6]]),
      tokenAccounts: associated ? [] : [holding(token, nft, owner, [1n, 1n])],
    },
  );
  return { decoded: actionsOf(run), wallet, marketplace: at.market };
}

describe('Auction House offer', () => {
  it.each([
    ['SOL', SOL, { currency: SOL, price: 2.5 }],
    ['a token of the transaction', USDC, { currency: USDC, price: 2_500 }],
    ['an unknown currency', someone(77), { currency: null, price: null }],
  ])('lists in %s by its trade state address', (_, currency, amount) => {
    const { decoded, wallet, marketplace } = offered('sell', { currency });
    const info = { seller: wallet, marketplace, nft_address: nft, ...amount };
    expect(decoded).toEqual([{ type: 'NFT_LIST', info }]);
  });

  it.each(['cancel', 'auctioneer_cancel'] as const)('is a listing or a bid by the holder in %s', (name) => {
    const { decoded, wallet, marketplace } = offered(name);
    const info = { marketplace, nft_address: nft, price: 2.5 };
    const listing = { type: 'NFT_LIST_CANCEL', info: { seller: wallet, ...info } };
    expect(decoded).toEqual([listing]);
    const bid = { type: 'NFT_BID_CANCEL', info: { bidder: wallet, currency: SOL, ...info } };
    expect(offered(name, { owner: someone(8) }).decoded).toEqual([bid]);
    expect(offered(name, { owner: someone(8), open: true }).decoded).toEqual([bid]);
    // Without an owner, only the associated token account shows who holds the NFT.
    expect(offered(name, { owner: null }).decoded).toBeNull();
    expect(offered(name, { associated: true }).decoded).toEqual([listing]);
  });
});
