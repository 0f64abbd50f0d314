import { describe, expect, it } from 'vitest';
import type { ByteWriter } from '../../../src/base/bytes.ts';
import { address } from '../../../src/solana/address.ts';
import { nativeMint } from '../../../src/solana/programs.ts';
import { accountsOf, actionsOf, anchorData, executedTransaction, someone } from './transaction-builder.ts';

/** Source: me-foundation/m2 553914e, src/idl/m2.json. */
const m2 = address('M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K');
const mmm = address('mmm3XBJg5gk8XJxEKBvdgptZz6SgK4tXvn36sodowMc');

const PRICE = 2_500_000_000n;

function decoded(name: string, names: string, args: (writer: ByteWriter) => unknown, logs: string[] = []) {
  const { accounts, at } = accountsOf(names, m2);
  const transaction = executedTransaction([{ program: m2, accounts, data: anchorData(name, args) }], {
    logs,
  });
  return { decoded: actionsOf(transaction), at };
}

const listArgs = (args: ByteWriter) => args.u64(PRICE).i64(-1n);
const saleArgs = (args: ByteWriter) => args.u64(PRICE).u16(0).u16(250);

describe('Magic Eden v2', () => {
  it.each([
    [
      'sell',
      'wallet notary tokenAccount tokenAta tokenMint metadata authority auctionHouse sellerTradeState sellerReferral tokenProgram systemProgram ataProgram programAsSigner rent',
      (args: ByteWriter) => args.u8(254).u8(255).u64(PRICE).u64(1n).i64(-1n),
    ],
    [
      'mip1_sell',
      'wallet notary programAsSigner tokenAccount tokenMint metadata auctionHouse sellerTradeState migrationSellerTradeState sellerReferral tokenAta tokenMetadataProgram',
      listArgs,
    ],
    [
      'ocp_sell',
      'wallet notary programAsSigner tokenAta tokenMint metadata auctionHouse sellerTradeState sellerReferral ocpMintState',
      listArgs,
    ],
    [
      'core_sell',
      'payer wallet notary programAsSigner tokenMint auctionHouse sellerTradeState sellerReferral assetProgram paymentMint! systemProgram collection',
      (args: ByteWriter) => args.u64(PRICE).i64(-1n).u8(0),
    ],
  ])('decodes a listing by %s', (name, names, args) => {
    const { decoded: actions, at } = decoded(name, names, args);
    expect(actions).toEqual([
      {
        type: 'NFT_LIST',
        info: {
          ...{ seller: at.wallet, marketplace: at.auctionHouse, price: 2.5, nft_address: at.tokenMint },
          currency: nativeMint,
        },
      },
    ]);
  });

  it.each([
    [
      'cancel_sell',
      'wallet notary tokenAccount tokenMint authority auctionHouse sellerTradeState sellerReferral tokenProgram',
      (args: ByteWriter) => args.u64(PRICE).u64(1n).i64(0n),
      2.5,
    ],
    [
      'mip1_cancel_sell',
      'wallet notary programAsSigner tokenAta tokenMint metadata auctionHouse sellerTradeState',
      () => 0,
      null,
    ],
    [
      'ocp_cancel_sell',
      'wallet notary programAsSigner tokenAta tokenMint metadata auctionHouse sellerTradeState',
      () => 0,
      null,
    ],
    [
      'core_cancel_sell',
      'payer wallet notary programAsSigner tokenMint auctionHouse sellerTradeState assetProgram systemProgram collection',
      () => 0,
      null,
    ],
    [
      'ext_cancel_sell',
      'payer wallet notary programAsSigner tokenAccount escrowAta tokenMint auctionHouse sellerTradeState tokenProgram',
      () => 0,
      null,
    ],
  ])('decodes a canceled listing by %s', (name, names, args, price) => {
    const { decoded: actions, at } = decoded(name, names, args);
    const info = { seller: at.wallet, marketplace: at.auctionHouse, nft_address: at.tokenMint, price };
    expect(actions).toEqual([{ type: 'NFT_LIST_CANCEL', info }]);
  });

  it.each([
    ['buy', (args: ByteWriter) => args.u8(255).u8(254).u64(PRICE).u64(1n).i64(0n)],
    ['buy_v2', (args: ByteWriter) => args.u64(PRICE).u64(1n).i64(0n).u16(10_000).u32(0)],
  ])('decodes a bid by %s', (name, args) => {
    const names =
      'wallet notary tokenMint metadata escrowPaymentAccount authority auctionHouse buyerTradeState buyerReferral tokenProgram systemProgram rent';
    const { decoded: actions, at } = decoded(name, names, args);
    const info = { bidder: at.wallet, currency: nativeMint, marketplace: at.auctionHouse, price: 2.5 };
    expect(actions).toEqual([{ type: 'NFT_BID', info: { ...info, nft_address: at.tokenMint } }]);
  });

  it('decodes a canceled bid', () => {
    const names = 'wallet notary tokenMint authority auctionHouse buyerTradeState buyerReferral';
    const { decoded: actions, at } = decoded('cancel_buy', names, (args) => args.u64(PRICE).u64(1n).i64(0n));
    const info = { bidder: at.wallet, currency: nativeMint, marketplace: at.auctionHouse, price: 2.5 };
    expect(actions).toEqual([{ type: 'NFT_BID_CANCEL', info: { ...info, nft_address: at.tokenMint } }]);
  });

  it.each([
    [
      'execute_sale_v2',
      'buyer seller notary tokenAccount tokenMint metadata escrowPaymentAccount buyerReceiptTokenAccount authority auctionHouse auctionHouseTreasury buyerTradeState buyerReferral sellerTradeState sellerReferral',
      (args: ByteWriter) => args.u8(1).u8(2).u64(PRICE).u64(1n).i64(0n).i64(0n).u16(0).u16(250),
    ],
    [
      'mip1_execute_sale_v2',
      'payer buyer seller notary programAsSigner tokenAccount buyerReceiptTokenAccount tokenMint metadata auctionHouse auctionHouseTreasury sellerTradeState buyerTradeState buyerEscrowPaymentAccount',
      saleArgs,
    ],
    [
      'ocp_execute_sale_v2',
      'payer buyer seller notary programAsSigner sellerTokenAta buyerTokenAta tokenMint metadata auctionHouse auctionHouseTreasury sellerTradeState buyerTradeState',
      saleArgs,
    ],
    [
      'ext_execute_sale_v2',
      'payer buyer seller notary programAsSigner escrowAta buyerAta tokenMint auctionHouse auctionHouseTreasury sellerTradeState buyerTradeState buyerEscrowPaymentAccount buyerReferral sellerReferral associatedTokenProgram tokenProgram systemProgram paymentMint! paymentSourceTokenAccount',
      saleArgs,
    ],
  ])('decodes a sale by %s', (name, names, args) => {
    const { decoded: actions, at } = decoded(name, names, args);
    expect(actions).toEqual([
      {
        type: 'NFT_SALE',
        info: {
          ...{ buyer: at.buyer, seller: at.seller, nft_address: at.tokenMint, currency: nativeMint },
          ...{ marketplace: at.auctionHouse, price: 2.5 },
        },
      },
    ]);
  });

  const coreSale =
    'payer buyer seller notary programAsSigner asset auctionHouse auctionHouseTreasury sellerTradeState buyerTradeState buyerEscrowPaymentAccount buyerReferral sellerReferral assetProgram systemProgram collection paymentMint! paymentSourceTokenAccount';

  it('takes the price of a Core sale from the log only', () => {
    const invoked = [`Program ${m2} invoke [1]`, 'Program log: {"maker_fee":0,"price":2500000000}'];
    const logged = decoded('core_execute_sale_v2', coreSale, saleArgs, [...invoked, `Program ${m2} success`]);
    const { buyer, seller, asset, auctionHouse } = logged.at;
    const info = { buyer, seller, nft_address: asset, currency: nativeMint, marketplace: auctionHouse };
    expect(logged.decoded).toEqual([{ type: 'NFT_SALE', info: { ...info, price: 2.5 } }]);
    expect(decoded('core_execute_sale_v2', coreSale, saleArgs).decoded?.[0]?.info).toMatchObject({
      price: null,
    });
  });

  it('decodes a treasury withdrawal', () => {
    const names = 'treasuryWithdrawalDestination auctionHouseTreasury auctionHouse systemProgram';
    const { decoded: actions, at } = decoded('withdraw_from_treasury', names, (args) => args.u64(PRICE));
    expect(actions).toEqual([
      {
        type: 'MARKETPLACE_WITHDRAW',
        info: {
          ...{
            currency: nativeMint,
            marketplace: at.auctionHouse,
            treasury_account: at.auctionHouseTreasury,
          },
          ...{ marketplace_authority: null, amount: 2.5 },
          withdrawal_destination_account: at.treasuryWithdrawalDestination,
        },
      },
    ]);
  });

  /** Offers with the position of their account and the sales that execute them. */
  it.each([
    ['sell', 8, 'execute_sale_v2'],
    ['mip1_sell', 7, 'mip1_execute_sale_v2'],
    ['ocp_sell', 7, 'ocp_execute_sale_v2'],
    ['core_sell', 6, 'core_execute_sale_v2'],
    ['buy', 7, 'ext_execute_sale_v2'],
    ['buy_v2', 7, 'mip1_execute_sale_v2'],
  ])('shows only the sale when an offer by %s is accepted in the same transaction', (name, at, sale) => {
    const accounts = Array.from({ length: 12 }, (_, index) => someone(100 + index));
    const others = Array.from({ length: 25 }, (_, index) => someone(150 + index));
    const data = anchorData(name, (args) => args.zeros(40));
    const saleData = anchorData(sale, (args) => args.zeros(40));
    const together = (taken: number, program = m2) =>
      executedTransaction([
        { program: m2, accounts, data },
        { program, accounts: [...others, someone(taken)], data: saleData },
      ]);
    expect(actionsOf(together(100 + at))).toEqual([]);
    expect(actionsOf(together(100 + at), 1)?.[0]?.type).toBe('NFT_SALE');
    const alone = name.startsWith('buy') ? 'NFT_BID' : 'NFT_LIST';
    expect(actionsOf(together(99))?.[0]?.type).toBe(alone);
    expect(actionsOf(together(100 + at, mmm))?.[0]?.type).toBe(alone);
    const before = executedTransaction([
      { program: m2, accounts: [...others, someone(100 + at)], data: saleData },
      { program: m2, accounts, data },
    ]);
    expect(actionsOf(before, 1)?.[0]?.type).toBe(alone);
  });

  it.each([
    ['core_sell', '1ff3f73b8653a5da'],
    ['core_cancel_sell', '424427ed09f77afd'],
    ['core_execute_sale_v2', 'd562c518f2359a23'],
    ['ext_cancel_sell', '7a920410d90846d6'],
    ['ext_execute_sale_v2', '76b809468676729f'],
  ])('computes the discriminator of %s as published decoders do', (name, mark) => {
    expect(Buffer.from(anchorData(name)).toString('hex')).toBe(mark);
  });

  it('leaves escrow movements to the transfers', () => {
    const { decoded: actions } = decoded('deposit', 'wallet notary escrow authority auctionHouse', (args) =>
      args.u8(1).u64(PRICE),
    );
    expect(actions).toBeNull();
  });

  it('is UNKNOWN with too few accounts or arguments', () => {
    expect(decoded('buy_v2', 'wallet notary tokenMint', (args) => args.u64(PRICE)).decoded).toBeNull();
    expect(decoded('cancel_buy', 'a b c d e f g', (args) => args.u32(1)).decoded).toBeNull();
  });
});

/** Interface: me-foundation/mmm 0a054d2, sdk/src/idl/mmm.ts. */
describe('Magic Eden AMM', () => {
  const logs = [
    `Program ${mmm} invoke [1]`,
    'Program log: {"lp_fee":0,"royalty_paid":3,"total_price":2500000000}',
    `Program ${mmm} success`,
  ];
  it.each([
    ['sol_fulfill_buy', 8, true],
    ['sol_fulfill_sell', 8, false],
    ['sol_mip1_fulfill_buy', 7, true],
    ['sol_mip1_fulfill_sell', 7, false],
    ['sol_ocp_fulfill_buy', 7, true],
    ['sol_ocp_fulfill_sell', 7, false],
    ['sol_ext_fulfill_buy', 6, true],
    ['sol_ext_fulfill_sell', 6, false],
    ['sol_mpl_core_fulfill_buy', 6, true],
    ['sol_mpl_core_fulfill_sell', 6, false],
  ])('decodes a sale by %s at the logged price', (name, mintAt, poolBuys) => {
    const accounts = Array.from({ length: 12 }, (_, index) => someone(50 + index));
    const transaction = executedTransaction([{ program: mmm, accounts, data: anchorData(name) }], { logs });
    const [payer, owner] = accounts;
    expect(actionsOf(transaction)).toEqual([
      {
        type: 'NFT_SALE',
        info: {
          ...{ buyer: poolBuys ? owner : payer, seller: poolBuys ? payer : owner },
          ...{ nft_address: accounts[mintAt], currency: nativeMint, marketplace: mmm, price: 2.5 },
        },
      },
    ]);
  });
});
