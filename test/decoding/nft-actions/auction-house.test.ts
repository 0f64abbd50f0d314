import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/base/bytes.ts';
import type { TransactionTokenAccount } from '../../../src/decoding/transaction/executed-transaction.ts';
import { type Address, address, addressBytes } from '../../../src/solana/address.ts';
import { findProgramAddress } from '../../../src/solana/program-address.ts';
import { nativeMint, programs } from '../../../src/solana/programs.ts';
import {
  accountsOf,
  actionsOf,
  anchorData,
  executedTransaction,
  holding,
  someone,
} from './transaction-builder.ts';

/** Interface: metaplex-foundation/metaplex-program-library 27bd23f, auction-house/js/idl/auction_house.json. */
const house = address('hausS13jsjafwWwGqZTUQRmWyvyxn9EQpqMwV1PBBmk');
const usdc = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const nft = someone(9);

const PRICE = 1_500_000_000n;

type At = Record<string, Address>;
type Written = (args: ByteWriter) => unknown;

/** Trade state address (`find_trade_state_address`); a public bid is not tied to a token account. */
function tradeState(at: At, currency: Address, price: bigint, tokenAccount: Address | null): Address {
  const number = (value: bigint) => new ByteWriter().u64(value).finish();
  const keys = [
    at.wallet!,
    at.auctionHouse!,
    ...(tokenAccount === null ? [] : [tokenAccount]),
    currency,
    nft,
  ];
  const seeds = [Buffer.from('auction_house'), ...keys.map(addressBytes), number(price), number(1n)];
  return findProgramAddress(seeds, house).address;
}

type Options = Readonly<{ owner?: Address | null; currency?: Address; open?: boolean; state?: string }>;

/** Actions of an offer instruction at its trade state. */
function offered(name: string, names: string, args: Written, options: Options = {}) {
  const { accounts, at } = accountsOf(names, house);
  const { owner = at.wallet!, currency = nativeMint, open = false, state = 'tradeState' } = options;
  const tokenAccount = at.tokenAccount!;
  const offerState = tradeState(at, currency, PRICE, open ? null : tokenAccount);
  const placed = accounts.map((account) => (account === at[state] ? offerState : account));
  const holder: TransactionTokenAccount = holding(tokenAccount, nft, owner, [1n, 1n]);
  const facts = { tokenAccounts: [holder], decimals: new Map([[usdc, 6]]) };
  const own = placed.map((account) => (account === at.tokenMint ? nft : account));
  return {
    decoded: actionsOf(
      executedTransaction([{ program: house, accounts: own, data: anchorData(name, args) }], facts),
    ),
    at: { ...at, tokenMint: nft } as At,
  };
}

const sellArgs: Written = (args) => args.u8(1).u8(2).u8(3).u64(PRICE).u64(1n);
const sellNames =
  'wallet tokenAccount metadata authority auctionHouse auctionHouseFeeAccount tradeState freeSellerTradeState tokenProgram systemProgram programAsSigner rent';
const cancelNames =
  'wallet tokenAccount tokenMint authority auctionHouse auctionHouseFeeAccount tradeState tokenProgram';
const cancelArgs: Written = (args) => args.u64(PRICE).u64(1n);

describe('Auction House', () => {
  it('decodes a listing in SOL from its trade state address', () => {
    const { decoded, at } = offered('sell', sellNames, sellArgs);
    const info = { seller: at.wallet, marketplace: at.auctionHouse, price: 1.5, nft_address: nft };
    expect(decoded).toEqual([{ type: 'NFT_LIST', info: { ...info, currency: nativeMint } }]);
  });

  it('decodes a listing in a token of the transaction', () => {
    const { decoded } = offered('sell', sellNames, sellArgs, { currency: usdc });
    expect(decoded?.[0]?.info).toMatchObject({ currency: usdc, price: 1_500 });
  });

  it('leaves the currency null when nothing proves it', () => {
    const { decoded } = offered('sell', sellNames, sellArgs, { currency: someone(77) });
    expect(decoded?.[0]?.info).toMatchObject({ currency: null, price: null, nft_address: nft });
  });

  it('decodes an auctioneer listing without price', () => {
    const names =
      'wallet tokenAccount metadata authority auctioneerAuthority auctionHouse auctionHouseFeeAccount tradeState';
    const { decoded, at } = offered('auctioneer_sell', names, (args) => args.u8(1).u8(2).u8(3).u64(1n));
    const info = { seller: at.wallet, marketplace: at.auctionHouse, price: null, nft_address: nft };
    expect(decoded).toEqual([{ type: 'NFT_LIST', info: { ...info, currency: null } }]);
  });

  it.each([
    ['buy', 'authority auctionHouse'],
    ['public_buy', 'authority auctionHouse'],
    ['auctioneer_buy', 'authority auctioneerAuthority auctionHouse'],
    ['auctioneer_public_buy', 'authority auctioneerAuthority auctionHouse'],
  ])('decodes a bid by %s', (name, places) => {
    const first =
      'wallet paymentAccount transferAuthority treasuryMint tokenAccount metadata escrowPaymentAccount';
    const names = `${first} ${places} auctionHouseFeeAccount tradeState`;
    const { accounts, at } = accountsOf(names, house);
    const own = accounts.map((account) => (account === at.treasuryMint ? usdc : account));
    const facts = {
      tokenAccounts: [holding(at.tokenAccount!, nft, someone(8), [1n, 1n])],
      decimals: new Map([[usdc, 6]]),
    };
    const data = anchorData(name, (args) => args.u8(1).u8(2).u64(PRICE).u64(1n));
    const info = { bidder: at.wallet, currency: usdc, marketplace: at.auctionHouse, price: 1_500 };
    expect(actionsOf(executedTransaction([{ program: house, accounts: own, data }], facts))).toEqual([
      { type: 'NFT_BID', info: { ...info, nft_address: nft } },
    ]);
  });

  it('tells a canceled listing from a canceled bid', () => {
    const listing = offered('cancel', cancelNames, cancelArgs);
    const at = listing.at;
    const info = { marketplace: at.auctionHouse, nft_address: nft, price: 1.5 };
    expect(listing.decoded).toEqual([{ type: 'NFT_LIST_CANCEL', info: { seller: at.wallet, ...info } }]);
    const bid = { type: 'NFT_BID_CANCEL', info: { bidder: at.wallet, currency: nativeMint, ...info } };
    expect(offered('cancel', cancelNames, cancelArgs, { owner: someone(8) }).decoded).toEqual([bid]);
    expect(offered('cancel', cancelNames, cancelArgs, { owner: someone(8), open: true }).decoded).toEqual([
      bid,
    ]);
  });

  it('decodes an auctioneer cancellation', () => {
    const names =
      'wallet tokenAccount tokenMint authority auctioneerAuthority auctionHouse auctionHouseFeeAccount tradeState';
    const { decoded, at } = offered('auctioneer_cancel', names, cancelArgs);
    const info = { seller: at.wallet, marketplace: at.auctionHouse, nft_address: nft, price: 1.5 };
    expect(decoded).toEqual([{ type: 'NFT_LIST_CANCEL', info }]);
  });

  it.each([
    ['sell', 6],
    ['auctioneer_sell', 7],
    ['buy', 10],
    ['public_buy', 10],
    ['auctioneer_buy', 11],
    ['auctioneer_public_buy', 11],
  ])('hides an offer by %s that a sale executes', (name, at) => {
    const accounts = Array.from({ length: 12 }, (_, index) => someone(100 + index));
    const data = anchorData(name, (args) => args.zeros(40));
    const sale = { program: house, data: anchorData('execute_sale', (args) => args.zeros(40)) };
    const others = Array.from({ length: 20 }, (_, index) => someone(150 + index));
    const decoded = (taken: number) =>
      actionsOf(
        executedTransaction([
          { program: house, accounts, data },
          { ...sale, accounts: [...others, someone(taken)] },
        ]),
      );
    expect(decoded(100 + at)).toEqual([]);
    expect(decoded(99)).toHaveLength(1);
  });

  it('recognizes a listing by the associated token account when the owner is unknown', () => {
    expect(offered('cancel', cancelNames, cancelArgs, { owner: null }).decoded).toBeNull();
    const { accounts, at } = accountsOf(cancelNames, house);
    const seeds = [at.wallet!, programs.token, nft].map(addressBytes);
    const { address: own } = findProgramAddress(seeds, programs.ata);
    const placed = accounts.map((one) => (one === at.tokenAccount ? own : one === at.tokenMint ? nft : one));
    const decoded = actionsOf(
      executedTransaction([{ program: house, accounts: placed, data: anchorData('cancel', cancelArgs) }]),
    );
    expect(decoded?.[0]?.type).toBe('NFT_LIST_CANCEL');
  });

  const saleNames = (places: string) =>
    `buyer seller tokenAccount tokenMint metadata treasuryMint escrowPaymentAccount sellerPaymentReceiptAccount buyerReceiptTokenAccount authority ${places} auctionHouseFeeAccount auctionHouseTreasury buyerTradeState sellerTradeState`;
  const saleArgs: Written = (args) => args.u8(1).u8(2).u8(3).u64(PRICE).u64(1n);
  const partArgs: Written = (args) => {
    saleArgs(args);
    return args.u8(1).u64(2n).u8(1).u64(400_000_000n);
  };

  it.each([
    ['execute_sale', 'auctionHouse', saleArgs, 1_500],
    ['auctioneer_execute_sale', 'auctioneerAuthority auctionHouse', saleArgs, 1_500],
    ['execute_partial_sale', 'auctionHouse', partArgs, 400],
    ['auctioneer_execute_partial_sale', 'auctioneerAuthority auctionHouse', partArgs, 400],
  ] as const)('decodes a sale by %s', (name, places, args, price) => {
    const { accounts, at } = accountsOf(saleNames(places), house);
    const own = accounts.map((account) => (account === at.treasuryMint ? usdc : account));
    const data = anchorData(name, args);
    const decoded = actionsOf(
      executedTransaction([{ program: house, accounts: own, data }], { decimals: new Map([[usdc, 6]]) }),
    );
    const info = { buyer: at.buyer, seller: at.seller, nft_address: at.tokenMint, currency: usdc };
    expect(decoded).toEqual([{ type: 'NFT_SALE', info: { ...info, marketplace: at.auctionHouse, price } }]);
  });

  it('decodes a treasury withdrawal', () => {
    const names =
      'treasuryMint authority treasuryWithdrawalDestination auctionHouseTreasury auctionHouse tokenProgram';
    const { accounts, at } = accountsOf(names, house);
    const own = accounts.map((account) => (account === at.treasuryMint ? nativeMint : account));
    const data = anchorData('withdraw_from_treasury', (args) => args.u64(PRICE));
    expect(actionsOf(executedTransaction([{ program: house, accounts: own, data }]))).toEqual([
      {
        type: 'MARKETPLACE_WITHDRAW',
        info: {
          ...{
            currency: nativeMint,
            marketplace: at.auctionHouse,
            treasury_account: at.auctionHouseTreasury,
          },
          ...{ marketplace_authority: at.authority, amount: 1.5 },
          withdrawal_destination_account: at.treasuryWithdrawalDestination,
        },
      },
    ]);
  });

  it('shows only the sale when listing and bid match in one transaction', () => {
    const sell = accountsOf(sellNames, house);
    const sale = accountsOf(saleNames('auctionHouse'), house, 150);
    const together = sale.accounts.map((one) =>
      one === sale.at.sellerTradeState ? sell.at.tradeState! : one,
    );
    const transaction = executedTransaction([
      { program: house, accounts: sell.accounts, data: anchorData('sell', sellArgs) },
      { program: house, accounts: together, data: anchorData('execute_sale', saleArgs) },
    ]);
    expect(actionsOf(transaction)).toEqual([]);
    expect(actionsOf(transaction, 1)?.[0]?.type).toBe('NFT_SALE');
  });

  it('hides receipts and leaves deposits UNKNOWN', () => {
    const decoded = (name: string) =>
      actionsOf(executedTransaction([{ program: house, data: anchorData(name, () => 0) }]));
    expect(decoded('print_listing_receipt')).toEqual([]);
    expect(decoded('print_purchase_receipt')).toEqual([]);
    expect(decoded('deposit')).toBeNull();
  });
});

/** Interface: formfunction-hq/formfunction-monorepo 6d049d5, packages/shared/src/constants/old-idls. */
describe('Formfunction auction house', () => {
  const formfunction = address('formn3hJtt8gvVKxpCfzCJGuoz6CNUFcULFZW18iTpC');

  it('shows no sale for a print that was not minted', () => {
    const names =
      'owner editionDistributor mint buyer treasuryMint auctionHouseTreasury auctionHouse masterEditionMetadata masterEditionPda limitedEditionMint';
    const { accounts } = accountsOf(names, formfunction);
    const data = anchorData('buy_edition_v2', (args) => args.u8(255).u64(2n).u64(PRICE).u8(254));
    const decoded = (err: string | null) =>
      actionsOf(executedTransaction([{ program: formfunction, accounts, data }], { err }));
    expect(decoded(null)).toBeNull();
    // A failed transaction shows what was attempted.
    expect(decoded('failed')?.[0]?.type).toBe('NFT_SALE');
  });
});
