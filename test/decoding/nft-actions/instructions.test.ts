import { describe, expect, it } from 'vitest';
import {
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../src/decoding/transaction/events/layout.ts';
import type { Address } from '../../../src/solana/address.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { table } from '../../parsed/rows/row.ts';
import {
  accountsOf,
  assetOf,
  dataOf,
  decodedAndExpected,
  keyTokens,
  marketplaces,
  PRICE,
  runOf,
  USDC,
} from './instruction-rows.ts';
import { actionsOf, executedTransaction, someone } from './transaction-builder.ts';

const { mmm, tamm, tcomp, tswap } = marketplaces;

/** Seller, buyer, market and nft are names of accounts; `program` is the marketplace itself. */
const sale = (market: string, currency = 'SOL', price: number | null = 2.5): string =>
  `NFT_SALE buyer=buyer seller=seller nft_address=nft currency=${currency} marketplace=${market} price=${price}`;
const list = (market: string, nft = 'nft', currency = 'SOL', price: number | null = 2.5): string =>
  `NFT_LIST seller=seller marketplace=${market} price=${price} nft_address=${nft} currency=${currency}`;
const delist = (market: string, price: number | null = null): string =>
  `NFT_LIST_CANCEL seller=seller marketplace=${market} nft_address=nft price=${price}`;
const bid = (market: string, nft = 'nft', currency = 'SOL', price = 2.5, type = 'NFT_BID'): string =>
  `${type} bidder=bidder currency=${currency} marketplace=${market} price=${price} nft_address=${nft}`;
const update =
  'NFT_LIST_UPDATE seller=seller marketplace=program nft_address=nft old_price=null new_price=2.5';
const withdraw = (market: string, treasury: string, authority: string, amount = 2.5): string =>
  `MARKETPLACE_WITHDRAW currency=SOL marketplace=${market} treasury_account=${treasury}
    marketplace_authority=${authority} withdrawal_destination_account=destination amount=${amount}`;

const logs: Readonly<Record<string, string[]>> = {
  price: ['Program log: {"maker_fee":0,"price":2500000000}'],
  total: ['Program log: {"lp_fee":0,"royalty_paid":3,"total_price":2500000000}'],
  ...Object.fromEntries(
    ['BuySellEvent', 'DelistEvent'].map((name) => {
      const bytes = Buffer.concat([
        Buffer.from(eventDiscriminator(name), 'hex'),
        dataOf('9', 'P 1:64').subarray(1),
      ]);
      return [name, [`Program data: ${bytes.toString('base64')}`]];
    }),
  ),
};

const takeEvent = (amount: bigint, currency: Address | null): Uint8Array =>
  dataOf(
    'tcomp_noop',
    `1 @5 1 @6 1 @7 1 0 1 @8 ${amount}:64 1:32 1:64 2:64 3:64 4:64
      ${currency === null ? '0' : `1 ${keyTokens(currency)}`} 1 @9`,
  );
const makeEvent = (asset: Address): Uint8Array =>
  dataOf('tcomp_noop', `0 @5 0 0 ${keyTokens(asset)} 0 0 P 1:32 0 5:64 0 1 ${keyTokens(asset)}`);

/** An NFT that is not compressed: its address is on the curve. */
const plain = Keypair.fromSeed(new Uint8Array(32).fill(3)).address;

const calls: Readonly<Record<string, Uint8Array>> = {
  paid: takeEvent(PRICE, null),
  paidUsdc: takeEvent(7_250_000n, USDC),
  edited: makeEvent(assetOf(someone(4))),
  editedPlain: makeEvent(plain),
  traded: dataOf('tamm_noop', '0 P 1:64 2:64 3:64'),
};

const leaf = '77:64 0:32';
const royalty = `${leaf} 64*0 2:32 60 40 2:32 1 0 500:16 9:64 1 50:16`;
const terms = 'P 1 86400:64 0 1 @8 0';
const compressedTerms = 'price=2.5 expire_in_second=86400 private_taker=@8';
const bidArgs = 'P 4:32 0 0 0 0';
const compressedCancel =
  'COMPRESSED_NFT_LIST_CANCEL seller=seller list_state=state marketplace=program merkle_tree=tree nft_address=asset';
const compressedSale = (currency: string, price: number | null): string =>
  `COMPRESSED_NFT_SALE buyer=buyer seller=seller currency=${currency} list_state=state marketplace=program
    merkle_tree=tree nft_address=asset price=${price} royalty_percentage=50`;
const takeBid = (percentage: number | null): string =>
  `COMPRESSED_NFT_TAKE_BID buyer=buyer seller=seller currency=SOL marketplace=program merkle_tree=tree
    nft_address=asset price=2.5 royalty_percentage=${percentage} bid_state=state`;
const bidCancel = 'COMPRESSED_NFT_BID_CANCEL marketplace=program bid_state=state bidder=bidder';
const mint = 'NFT_MINT nft_address=nft amount=1 amount_raw=1 owner_associated_account=null';
const transfer = 'NFT_TRANSFER amount=1 receiver=receiver';
const received = 'receiver_associated_account=null nft_address=nft';
const created = 'CREATE_TREE tree_authority=admin merkle_tree=tree payer=payer';
const size = 'max_depth=14 max_buffer_size=64';
const compressedTransfer = `COMPRESSED_NFT_TRANSFER tree_authority=admin merkle_tree=tree sender=owner
    receiver=receiver nft_address=asset update_authority=admin`;
const compressedBurn = `COMPRESSED_NFT_BURN tree_authority=admin merkle_tree=tree owner=owner nft_address=asset
    update_authority=admin`;

/**
 * Program and instruction; accounts; arguments; a log or self-call; the action. Sources:
 * metaplex-program-library 27bd23f, auction_house.json; formfunction-monorepo 6d049d5, old-idls; m2 553914e;
 * tensorswap-sdk 260d7ac; Tensor marketplace 153c22c; mpl-core 2181404; mpl-bubblegum 575f729.
 */
const rows = table(`
  auctionHouse auctioneer_sell | seller token 3 house 1 state | 1 2 3 1:64 | | ${list('house', '@9', 'null', null)};
  auctionHouse buy | bidder 2 USDC token 3 house 1 state | 1 2 P 1:64 | | ${bid('house', '@9', 'USDC', 2500)};
  auctionHouse auctioneer_buy | bidder 2 USDC token 4 house 1 state | 1 2 P 1:64 | | ${bid('house', '@9', 'USDC', 2500)};
  auctionHouse execute_sale | buyer seller 1 nft 1 USDC 4 house | 1 2 3 P 1:64 | | ${sale('house', 'USDC', 2500)};
  auctionHouse auctioneer_execute_sale | buyer seller 1 nft 1 USDC 5 house | 1 2 3 P 1:64 | |
    ${sale('house', 'USDC', 2500)};
  auctionHouse execute_partial_sale | buyer seller 1 nft 1 USDC 4 house | 1 2 3 P 1:64 1 2:64 1 400000000:64 | |
    ${sale('house', 'USDC', 400)};
  auctionHouse auctioneer_execute_partial_sale | buyer seller 1 nft 1 SOL 5 house | 1 2 3 P 1:64 0 0 | |
    ${sale('house')};
  auctionHouse withdraw_from_treasury | SOL admin destination treasury house | P | |
    ${withdraw('house', 'treasury', 'admin')};
  auctionHouse deposit | 9 house | P | | null;
  formfunction sell | seller token 2 house 1 state 1 nft | 1 2 3 P 1:64 | | ${list('house', 'nft', 'null', null)};
  formfunction buy_v2 | bidder 2 USDC 4 house 2 nft | 1 2 P 1:64 | | ${bid('house', 'nft', 'USDC', 2500)};
  formfunction execute_sale_v2 | buyer seller 1 nft 1 USDC 4 house | 1 2 3 P 9:64 | |
    ${sale('house', 'USDC', 2500)};
  formfunction buy_edition_v2 | seller 2 buyer SOL 1 house 2 nft | 255 2:64 P 254 | | null;
  auction 6 | bidder 4 house 1 SOL | P | | ${bid('house', 'null')};
  m2 sell | seller 3 nft 2 house state | 254 255 P 1:64 | | ${list('house')};
  m2 mip1_sell | seller 3 nft 1 house state | P -1:64 | | ${list('house')};
  m2 core_sell | 1 seller 2 nft house state 2 mint! | P -1:64 0 | | ${list('house')};
  m2 core_sell | 1 seller 2 nft house state 2 USDC | P -1:64 0 | | ${list('house', 'nft', 'USDC', 2500)};
  m2 cancel_sell | seller 2 nft 1 house | P 1:64 | | ${delist('house', 2.5)};
  m2 mip1_cancel_sell | seller 3 nft 1 house | | | ${delist('house')};
  m2 core_cancel_sell | 1 seller 2 nft house | | | ${delist('house')};
  m2 ext_cancel_sell | 1 seller 4 nft house | | | ${delist('house')};
  m2 buy | bidder 1 nft 3 house state | 255 254 P 1:64 | | ${bid('house')};
  m2 buy_v2 | bidder 1 nft 3 house state | P 1:64 | | ${bid('house')};
  m2 buy_v2 | bidder 1 nft | P | | null;
  m2 cancel_buy | bidder 1 nft 1 house | P 1:64 | | ${bid('house', 'nft', 'SOL', 2.5, 'NFT_BID_CANCEL')};
  m2 cancel_buy | bidder 1 nft 1 house | 1:32 | | null;
  m2 execute_sale_v2 | buyer seller 2 nft 4 house | 1 2 P 1:64 | | ${sale('house')};
  m2 mip1_execute_sale_v2 | 1 buyer seller 4 nft 1 house | P 0:16 250:16 | | ${sale('house')};
  m2 ext_execute_sale_v2 | 1 buyer seller 4 nft house 9 mint! | P 0:16 | | ${sale('house')};
  m2 ext_execute_sale_v2 | 1 buyer seller 4 nft house 9 USDC | P 0:16 | | ${sale('house', 'USDC', 2500)};
  m2 core_execute_sale_v2 | 1 buyer seller 2 nft house 9 mint! | P | price | ${sale('house')};
  m2 core_execute_sale_v2 | 1 buyer seller 2 nft house 9 mint! | P | | ${sale('house', 'SOL', null)};
  m2 withdraw_from_treasury | destination treasury house | P | | ${withdraw('house', 'treasury', 'null')};
  m2 deposit | seller 3 house | 1 P | | null;
  tswap list | 2 nft 2 seller | P 0 0 | | ${list('program')};
  tswap delist | 2 nft 2 seller | | DelistEvent | ${delist('program', 2.5)};
  tswap wns_delist | 2 nft 2 seller | | BuySellEvent | ${delist('program')};
  tswap edit_single_listing | 1 nft seller | P | | ${update};
  tswap buy_single_listing | 4 nft 2 seller buyer | 9:64 | BuySellEvent | ${sale('program')};
  tswap buy_single_listing | 4 nft 2 seller buyer | P | | ${sale('program', 'SOL', null)};
  tswap buy_single_listing_t22 | 4 nft 1 seller buyer | 9:64 | BuySellEvent | ${sale('program')};
  tswap buy_nft | 5 nft 4 seller buyer | 9:64 | BuySellEvent | ${sale('program')};
  tswap buy_nft_t22 | 5 nft 3 seller buyer | 9:64 | BuySellEvent | ${sale('program')};
  tswap sell_nft_token_pool | 6 nft 2 buyer seller | 9:64 | BuySellEvent | ${sale('program')};
  tswap sell_nft_token_pool_t22 | 6 nft 1 buyer seller | 9:64 | BuySellEvent | ${sale('program')};
  tswap withdraw_tswap_fees | treasury 1 admin destination | P | | ${withdraw('program', 'treasury', 'admin')};
  tcomp buy | 2 tree 5 state buyer 1 seller | ${royalty} | paid | ${compressedSale('SOL', 2.5)};
  tcomp buy_spl | 3 tree 7 state buyer 2 seller 1 currency | ${royalty} | paidUsdc | ${compressedSale('USDC', 7.25)};
  tcomp buy_spl | 3 tree 7 state buyer 2 seller 1 currency | ${royalty} | | ${compressedSale('currency', null)};
  tcomp buy_legacy | 1 buyer 3 nft seller | 9:64 | paid | ${sale('program')};
  tcomp buy_legacy | 1 buyer 3 nft seller | 9:64 | | ${sale('program', 'SOL', null)};
  tcomp buy_legacy_spl | 2 buyer 3 nft currency seller | 9:64 | paidUsdc | ${sale('program', 'USDC', 7.25)};
  tcomp buy_legacy_spl | 2 buyer 3 nft currency seller | 9:64 | | ${sale('program', 'currency', null)};
  tcomp buy_core | 2 nft 1 buyer 1 seller | 9:64 | paid | ${sale('program')};
  tcomp buy_core_spl | 2 buyer 1 nft 1 currency seller | 9:64 | paidUsdc | ${sale('program', 'USDC', 7.25)};
  tcomp list | 1 seller 1 tree 5 state | ${leaf} 96*0 ${terms} | | COMPRESSED_NFT_LIST seller=seller currency=SOL
    list_state=state marketplace=program merkle_tree=tree nft_address=asset ${compressedTerms};
  tcomp list_legacy | seller 3 nft | ${terms} | | ${list('program')};
  tcomp list_core | nft 2 seller | ${terms} | | ${list('program')};
  tcomp list_wns | seller 3 nft 11 mint! | P 0 0 0 | | ${list('program')};
  tcomp list_wns | seller 3 nft 11 currency | P 0 0 0 | | ${list('program', 'nft', 'currency', null)};
  tcomp delist | 1 tree 4 state seller | ${leaf} 96*0 | | ${compressedCancel};
  tcomp close_expired_listing | state seller 3 tree | ${leaf} 96*0 | | ${compressedCancel};
  tcomp delist_legacy | seller 3 nft | | | ${delist('program')};
  tcomp delist_core | nft 1 seller | | | ${delist('program')};
  tcomp close_expired_listing_legacy | seller 3 nft | | | ${delist('program')};
  tcomp close_expired_listing_core | 1 nft 1 seller | | | ${delist('program')};
  tcomp edit | state seller | ${terms} | edited | COMPRESSED_NFT_LIST_UPDATE seller=seller currency=SOL
    list_state=state marketplace=program nft_address="${assetOf(someone(4))}" ${compressedTerms};
  tcomp edit | state seller | ${terms} | editedPlain | ${update.replace('=nft', `="${plain}"`)};
  tcomp bid | 2 state bidder | @3 1 @4 0 0 ${bidArgs} | | COMPRESSED_NFT_BID currency=SOL marketplace=program
    price=2.5 expire_in_second=null private_taker=null bid_state=state bidder=bidder target="whitelist"
    target_id=@4 quantity=4;
  tcomp bid | 2 state bidder | @3 0 @4 0 0 ${bidArgs} | | COMPRESSED_NFT_BID currency=SOL marketplace=program
    price=2.5 expire_in_second=null private_taker=null bid_state=state bidder=bidder target="assetId"
    target_id=@4 quantity=4;
  tcomp bid | 2 state bidder | @3 0 ${keyTokens(plain)} 0 0 ${bidArgs} | | ${bid('program', `"${plain}"`)};
  tcomp bid | 2 state bidder | @3 2 @4 0 0 ${bidArgs} | | null;
  tcomp cancel_bid | state bidder | | | ${bidCancel};
  tcomp take_bid_meta_hash | 2 seller 1 tree 6 state buyer | ${royalty} | paid | ${takeBid(50)};
  tcomp take_bid_full_meta | 2 seller 1 tree 6 state buyer | ${leaf} 32*0 | paid | ${takeBid(null)};
  tcomp take_bid_legacy | 1 seller 1 buyer 5 nft | 1:64 | paid | ${sale('program')};
  tcomp take_bid_core | 1 seller 1 buyer 4 nft | 1:64 | paid | ${sale('program')};
  tcomp withdraw_fees | 1 treasury 1 admin destination | P | | ${withdraw('program', 'treasury', 'admin')};
  core 0 | nft group 1 payer owner updater! | 0 | | ${mint} owner=owner collection_address=group;
  core 0 | nft group! 1 payer owner! updater | 0 | | ${mint} owner=updater collection_address=null;
  core 0 | nft group! 1 payer owner! updater! | 0 | | ${mint} owner=payer collection_address=null;
  core 14 | nft 1 payer admin receiver | | | ${transfer} sender=admin ${received};
  core 14 | nft 1 payer admin! receiver | | | ${transfer} sender=payer ${received};
  core 12 | nft 1 payer admin | | | NFT_BURN wallet=admin nft_address=nft amount=1;
  core 12 | nft 1 payer admin! | | | NFT_BURN wallet=payer nft_address=nft amount=1;
  core 1 | 6 nft | | | null;
  core 32 | 6 nft | | | none;
  bubblegum create_tree | admin tree payer creator | 14:32 64:32 0 | | ${created} tree_creator=creator ${size};
  bubblegum create_tree | admin tree payer creator! | 14:32 64:32 0 | | ${created} tree_creator=payer ${size};
  bubblegum transfer | admin owner 1 receiver tree | 96*0 77:64 0:32 | | ${compressedTransfer};
  bubblegum transfer_v2 | admin 2 owner 1 receiver tree | 96*0 0 0 77:64 0:32 | | ${compressedTransfer};
  bubblegum transfer_v2 | admin 2 owner 1 receiver tree | 96*0 1 32*0 1 4 77:64 | | ${compressedTransfer};
  bubblegum burn | admin owner 1 tree | 96*0 77:64 0:32 | | ${compressedBurn};
  bubblegum burn_v2 | admin 2 owner 1 tree | 96*0 0 0 77:64 0:32 | | ${compressedBurn};
  bubblegum delegate | admin 8 tree | 96*0 | | null;
  tcomp tcomp_noop | 3 | | | none;
  auctionHouse print_listing_receipt | 3 | | | none;
  auctionHouse print_purchase_receipt | 3 | | | none;
`);

const marketplaceOf = (name: string): Address => marketplaces[name as keyof typeof marketplaces];

const invoked = (program: Address, lines: readonly string[]): string[] => [
  `Program ${program} invoke [1]`,
  ...lines,
  `Program ${program} success`,
];

describe('NFT program instruction', () => {
  it.each(rows)('%s with %s and %s (%s): %s', (head, names = '', args = '', source = '', action = '') => {
    const [name = '', instruction = ''] = head.split(' ');
    const program = marketplaceOf(name);
    const facts = { logs: invoked(program, logs[source] ?? []) };
    const call = calls[source] ?? null;
    const [decoded, expected] = decodedAndExpected(
      [program, instruction],
      [names, args, action],
      facts,
      call,
    );
    expect(decoded).toBe(expected);
  });

  /** Accounts of the sale in the Magic Eden AMM: owner and payer, the NFT at a position. Source: mmm 0a054d2. */
  it.each([
    ...[
      ['sol', 8],
      ['sol_mip1', 7],
      ['sol_ocp', 7],
      ['sol_ext', 6],
      ['sol_mpl_core', 6],
    ],
  ] as [string, number][])('%s_fulfill of the Magic Eden AMM sells at the logged price', (prefix, mintAt) => {
    const between = mintAt - 2;
    for (const [side, names] of [
      ['buy', `seller buyer ${between} nft`],
      ['sell', `buyer seller ${between} nft`],
    ] as const) {
      const row = [names, '', sale('program')] as const;
      const facts = { logs: invoked(mmm, logs.total ?? []) };
      const [decoded, expected] = decodedAndExpected([mmm, `${prefix}_fulfill_${side}`], row, facts);
      expect(decoded).toBe(expected);
    }
  });

  /** Source: tensor-foundation/amm 455e3eb, program/idl.json. */
  it.each(['buy_nft', 'sell_nft_token_pool'])(
    '%s of the Tensor AMM sells at the price of its self-call',
    (name) => {
      const names = name.startsWith('buy') ? 'seller buyer 12 nft' : 'buyer seller 12 nft';
      const row = [names, '9:64', sale('program')] as const;
      const [decoded, expected] = decodedAndExpected([tamm, name], row, {}, calls.traded ?? null);
      expect(decoded).toBe(expected);
      const run = runOf(tamm, accountsOf(names, tamm), dataOf(name, '9:64'), {}, calls.traded ?? null);
      expect(actionsOf(run, 1)).toEqual([]);
      const unpriced = runOf(tamm, accountsOf(names, tamm), dataOf(name, '9:64'));
      expect(actionsOf(unpriced)?.[0]?.info).toMatchObject({ price: null });
    },
  );

  it.each([
    ['core_sell', '1ff3f73b8653a5da'],
    ['ext_execute_sale_v2', '76b809468676729f'],
    ['buy_core_spl', 'ea1c257a72efe9d0'],
    ['take_bid_meta_hash', '55e3ca462dd70ac1'],
    ['tcomp_noop', '6aa20ae28444df15'],
  ])('%s has the discriminator of its published client', (name, discriminator) => {
    expect(instructionDiscriminator(name)).toBe(discriminator);
  });

  it('takes no price from logs of another program or self-calls of another instruction', () => {
    const names = accountsOf('4 nft 2 seller buyer', tswap);
    const elsewhere = { logs: invoked(tamm, logs.BuySellEvent ?? []) };
    const single = runOf(tswap, names, dataOf('buy_single_listing', '9:64'), elsewhere);
    expect(actionsOf(single)?.[0]?.info.price).toBeNull();
    const { accounts } = accountsOf('2 nft 1 buyer 1 seller', tcomp);
    const buy = { program: tcomp, accounts, data: dataOf('buy_core', '1:64') };
    const noop = { program: tcomp, height: 2, parentProgram: tcomp, data: takeEvent(PRICE, null) };
    const priceOf = (call: { outer: number; caller: number }) =>
      actionsOf(executedTransaction([buy, buy, { ...noop, ...call }]))?.[0]?.info.price;
    expect(priceOf({ outer: 1, caller: 1 })).toBeNull();
    expect(priceOf({ outer: 0, caller: 1 })).toBeNull();
    expect(priceOf({ outer: 0, caller: 0 })).toBe(2.5);
  });

  it('shows no sale of a print that was not minted, unless the transaction failed', () => {
    const accounts = accountsOf('seller 2 buyer SOL 1 house 2 nft', marketplaces.formfunction);
    const run = runOf(marketplaces.formfunction, accounts, dataOf('buy_edition_v2', '255 2:64 P'), {
      err: 'failed',
    });
    expect(actionsOf(run)?.[0]).toMatchObject({ type: 'NFT_SALE', info: { price: 2.5 } });
  });

  /** Program, offer with the position of its account, and a sale that executes it. */
  it.each([
    ['auctionHouse', 'sell', 6, 'execute_sale'],
    ['auctionHouse', 'auctioneer_sell', 7, 'auctioneer_execute_sale'],
    ['auctionHouse', 'buy', 10, 'execute_partial_sale'],
    ['formfunction', 'sell', 6, 'execute_sale_v2'],
    ['formfunction', 'buy_v2', 10, 'execute_sale_v2'],
    ['m2', 'sell', 8, 'execute_sale_v2'],
    ['m2', 'mip1_sell', 7, 'mip1_execute_sale_v2'],
    ['m2', 'core_sell', 6, 'core_execute_sale_v2'],
    ['m2', 'buy', 7, 'ext_execute_sale_v2'],
  ])('%s %s is hidden when the same transaction executes it', (name, offer, at, sold) => {
    const program = marketplaceOf(name);
    const accounts = Array.from({ length: 12 }, (_, index) => someone(100 + index));
    const others = Array.from({ length: 25 }, (_, index) => someone(150 + index));
    const placed = { program, accounts, data: dataOf(offer, '40*0') };
    const executed = (state: number, by = program) => ({
      ...{ program: by, accounts: [...others, someone(state)], data: dataOf(sold, '60*0') },
    });
    const kind = offer.includes('buy') ? 'NFT_BID' : 'NFT_LIST';
    const together = executedTransaction([placed, executed(100 + at)]);
    expect(actionsOf(together)).toEqual([]);
    expect(actionsOf(together, 1)?.[0]?.type).toBe('NFT_SALE');
    for (const other of [executed(99), executed(100 + at, mmm)]) {
      expect(actionsOf(executedTransaction([placed, other]))?.[0]?.type).toBe(kind);
    }
    expect(actionsOf(executedTransaction([executed(100 + at), placed]), 1)?.[0]?.type).toBe(kind);
  });
});
