import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/base/bytes.ts';
import { eventDiscriminator } from '../../../src/decoding/transaction/events/layout.ts';
import { type Address, address, addressBytes } from '../../../src/solana/address.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { findProgramAddress } from '../../../src/solana/program-address.ts';
import { nativeMint } from '../../../src/solana/programs.ts';
import { accountsOf, actionsOf, anchorData, executedTransaction, someone } from './transaction-builder.ts';

const tswap = address('TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN');
const tcomp = address('TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp');
const tamm = address('TAMM6ub33ij1mbetoMyVBLeKY5iP41i4UPUJQGkhfsg');
const usdc = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const bubblegum = address('BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY');

const PRICE = 2_500_000_000n;

const some = (args: ByteWriter, value: Address | null) =>
  value === null ? args.u8(0) : args.u8(1).bytes(addressBytes(value));

/** Interface: tensor-hq/tensorswap-sdk 260d7ac, src/tensorswap/idl/tensorswap.ts (3.1.0). */
describe('TensorSwap', () => {
  const event = (name: string, price: bigint): string => {
    const bytes = new ByteWriter().bytes(Buffer.from(eventDiscriminator(name), 'hex')).u64(price);
    return `Program data: ${Buffer.from(bytes.u64(1n).u64(2n).u64(3n).finish()).toString('base64')}`;
  };
  const logged = (name: string) => [
    `Program ${tswap} invoke [1]`,
    event(name, PRICE),
    `Program ${tswap} success`,
  ];

  function decoded(name: string, names: string, args: (writer: ByteWriter) => unknown, logs: string[] = []) {
    const { accounts, at } = accountsOf(names, tswap);
    const data = anchorData(name, args);
    return { decoded: actionsOf(executedTransaction([{ program: tswap, accounts, data }], { logs })), at };
  }

  it.each([
    ['list', 'tswap nftSource nftMint nftEscrow singleListing owner tokenProgram'],
    ['list_t22', 'tswap nftSource nftMint nftEscrow singleListing owner tokenProgram'],
    ['wns_list', 'tswap nftSource nftMint nftEscrow singleListing owner tokenProgram'],
  ])('decodes a listing by %s', (name, names) => {
    const { decoded: actions, at } = decoded(name, names, (args) => args.u64(PRICE).u8(0).u8(0));
    const info = { seller: at.owner, marketplace: tswap, price: 2.5, nft_address: at.nftMint };
    expect(actions).toEqual([{ type: 'NFT_LIST', info: { ...info, currency: nativeMint } }]);
  });

  it.each(['delist', 'delist_t22', 'wns_delist'])('decodes a canceled listing by %s', (name) => {
    const names = 'tswap nftDest nftMint nftEscrow singleListing owner tokenProgram';
    const { decoded: actions, at } = decoded(name, names, () => 0, logged('DelistEvent'));
    const info = { seller: at.owner, marketplace: tswap, nft_address: at.nftMint, price: 2.5 };
    expect(actions).toEqual([{ type: 'NFT_LIST_CANCEL', info }]);
  });

  it('decodes a price update', () => {
    const { decoded: actions, at } = decoded('edit_single_listing', 'listing nftMint owner system', (args) =>
      args.u64(PRICE),
    );
    const info = { seller: at.owner, marketplace: tswap, nft_address: at.nftMint, old_price: null };
    expect(actions).toEqual([{ type: 'NFT_LIST_UPDATE', info: { ...info, new_price: 2.5 } }]);
  });

  const sales: readonly (readonly [string, string])[] = [
    [
      'buy_single_listing',
      'tswap feeVault singleListing nftBuyerAcc nftMint nftMetadata nftEscrow owner buyer tokenProgram',
    ],
    ['buy_single_listing_t22', 'tswap feeVault singleListing nftBuyerAcc nftMint nftEscrow owner buyer'],
    ['wns_buy_single_listing', 'tswap feeVault singleListing nftBuyerAcc nftMint nftEscrow owner buyer'],
    [
      'buy_nft',
      'tswap feeVault pool whitelist nftBuyerAcc nftMint nftMetadata nftEscrow nftReceipt solEscrow owner buyer tokenProgram',
    ],
    [
      'buy_nft_t22',
      'tswap feeVault pool whitelist nftBuyerAcc nftMint nftEscrow nftReceipt solEscrow owner buyer tokenProgram',
    ],
    [
      'wns_buy_nft',
      'tswap feeVault pool whitelist nftBuyerAcc nftMint nftEscrow nftReceipt solEscrow owner buyer tokenProgram',
    ],
    ...(['sell_nft_token_pool', 'sell_nft_trade_pool'] as const).map(
      (name) =>
        [
          name,
          'tswap feeVault pool whitelist mintProof nftSellerAcc nftMint nftMetadata solEscrow buyer owner ownerAtaAcc',
        ] as const,
    ),
    ...(
      [
        'sell_nft_token_pool_t22',
        'sell_nft_trade_pool_t22',
        'wns_sell_nft_token_pool',
        'wns_sell_nft_trade_pool',
      ] as const
    ).map(
      (name) =>
        [
          name,
          'tswap feeVault pool whitelist mintProof nftSellerAcc nftMint solEscrow buyer owner ownerAtaAcc',
        ] as const,
    ),
  ];

  /** The pool owner, who buys, is `owner` in the IDL. */
  it.each(sales)('decodes a sale by %s at the price of its event', (name, names) => {
    const { decoded: actions, at } = decoded(
      name,
      names,
      (args) => args.u64(9n * PRICE),
      logged('BuySellEvent'),
    );
    const info = { buyer: at.buyer, seller: at.owner, nft_address: at.nftMint, currency: nativeMint };
    expect(actions).toEqual([{ type: 'NFT_SALE', info: { ...info, marketplace: tswap, price: 2.5 } }]);
  });

  it('leaves the price null without an event of the instruction', () => {
    const [name, names] = sales[0] as readonly [string, string];
    const bound = (args: ByteWriter) => args.u64(PRICE);
    expect(decoded(name, names, bound).decoded?.[0]?.info).toMatchObject({ price: null });
    const elsewhere = [`Program ${tamm} invoke [1]`, event('BuySellEvent', PRICE), `Program ${tamm} success`];
    expect(decoded(name, names, bound, elsewhere).decoded?.[0]?.info).toMatchObject({ price: null });
  });

  it('decodes a fee withdrawal', () => {
    const { decoded: actions, at } = decoded(
      'withdraw_tswap_fees',
      'tswap cosigner owner destination',
      (args) => args.u64(PRICE),
    );
    const info = { currency: nativeMint, marketplace: tswap, treasury_account: at.tswap, amount: 2.5 };
    const places = { marketplace_authority: at.owner, withdrawal_destination_account: at.destination };
    expect(actions).toEqual([{ type: 'MARKETPLACE_WITHDRAW', info: { ...info, ...places } }]);
  });
});

/** Interface: tensor-foundation/amm 455e3eb, program/idl.json. */
describe('Tensor AMM', () => {
  const { accounts, at } = accountsOf(
    'owner taker rentPayer feeVault pool whitelist mintProof sharedEscrow makerBroker takerBroker cosigner ammProgram escrowProgram nativeProgram mint',
    tamm,
  );
  const noop = { outer: 0, height: 2, caller: 0, parentProgram: tamm, program: tamm };
  const event = anchorData('tamm_noop', (args) => args.u8(0).u64(PRICE).u64(1n).u64(2n).u64(3n));

  it.each([
    ...['buy_nft', 'buy_nft_core', 'buy_nft_t22'],
    ...['sell_nft_token_pool', 'sell_nft_token_pool_core', 'sell_nft_token_pool_t22'],
    ...['sell_nft_trade_pool', 'sell_nft_trade_pool_core', 'sell_nft_trade_pool_t22'],
  ])('decodes a sale by %s at the price of its self-call', (name) => {
    const data = anchorData(name, (args) => args.u64(9n * PRICE));
    const transaction = executedTransaction([
      { program: tamm, accounts, data },
      { ...noop, data: event },
    ]);
    const [buyer, seller] = name.startsWith('buy') ? [at.taker, at.owner] : [at.owner, at.taker];
    const info = { buyer, seller, nft_address: at.mint, currency: nativeMint, marketplace: tamm, price: 2.5 };
    expect(actionsOf(transaction)).toEqual([{ type: 'NFT_SALE', info }]);
    expect(actionsOf(transaction, 1)).toEqual([]);
    const unheard = actionsOf(executedTransaction([{ program: tamm, accounts, data }]));
    expect(unheard?.[0]?.info).toMatchObject({ price: null });
  });
});

/** Interface: tensor-foundation/marketplace 153c22c, clients/js/src/generated/instructions and program/src/event.rs. */
describe('Tensor Marketplace', () => {
  const plain = Keypair.fromSeed(new Uint8Array(32).fill(3)).address;
  const nonce = 77n;
  const assetOf = (tree: Address): Address => {
    const number = new ByteWriter().u64(nonce).finish();
    return findProgramAddress([Buffer.from('asset'), addressBytes(tree), number], bubblegum).address;
  };

  const makeEvent = (asset: Address) =>
    anchorData('tcomp_noop', (args) => {
      args
        .u8(0)
        .bytes(addressBytes(someone(5)))
        .u8(0)
        .u8(0)
        .bytes(addressBytes(asset))
        .u8(0)
        .u8(0);
      args.u64(PRICE).u32(1);
      some(args, null);
      args.i64(5n);
      some(args, null);
      some(args, asset);
    });

  const takeEvent = (amount: bigint, currency: Address | null) =>
    anchorData('tcomp_noop', (args) => {
      args.u8(1).bytes(addressBytes(someone(5)));
      some(args, someone(6));
      args
        .u8(1)
        .bytes(addressBytes(someone(7)))
        .u8(1)
        .u8(0);
      some(args, someone(8));
      args.u64(amount).u32(1).u64(1n).u64(2n).u64(3n).u64(4n);
      some(args, currency);
      some(args, someone(9));
    });

  type Written = (args: ByteWriter) => unknown;

  function decoded(name: string, names: string, args: Written, event: Uint8Array | null = null) {
    const { accounts, at } = accountsOf(names, tcomp);
    const noop = { outer: 0, height: 2, caller: 0, parentProgram: tcomp, program: tcomp };
    const calls = event === null ? [] : [{ ...noop, data: event }];
    const decimals = new Map([[usdc, 6]]);
    const transaction = executedTransaction(
      [{ program: tcomp, accounts, data: anchorData(name, args) }, ...calls],
      {
        decimals,
      },
    );
    return { decoded: actionsOf(transaction), at };
  }

  const leaf: Written = (args) => args.u64(nonce).u32(0).zeros(32);
  const withRoyalty: Written = (args) => {
    leaf(args);
    args.zeros(32).u32(2).u8(60).u8(40).u32(2).u8(1).u8(0).u16(500);
    return args
      .u64(9n * PRICE)
      .u8(1)
      .u16(50);
  };
  const terms: Written = (args) => {
    args.u64(PRICE).u8(1).u64(86_400n);
    some(args, null);
    some(args, someone(8));
    return some(args, null);
  };

  it.each([
    ['buy', '66063d1201daebea'],
    ['buy_spl', '4188feff3b82eaae'],
    ['buy_legacy', '447f2b08d41ff972'],
    ['buy_legacy_spl', '865e7de5189dc2c7'],
    ['buy_t22', '5162e3abc969b4d8'],
    ['buy_t22_spl', '6615a3275e277a5e'],
    ['buy_wns', 'a82bb3d92c3b23f4'],
    ['buy_wns_spl', '71893917bac4d9d2'],
    ['buy_core', 'a9e357ff4c56ff19'],
    ['buy_core_spl', 'ea1c257a72efe9d0'],
    ['list', '36aec14311298426'],
    ['list_legacy', '066eff121024081e'],
    ['list_t22', '09755de6dd04c7d4'],
    ['list_wns', '17ca668affbe27c4'],
    ['list_core', 'ad4ca77d76470199'],
    ['delist', '3788cd6b6bad041f'],
    ['delist_legacy', '5823e7b86eda9517'],
    ['edit', '0fb72156571c9791'],
    ['bid', 'c738552692f3259e'],
    ['cancel_bid', '28f3bed9d0fd56ce'],
    ['take_bid_full_meta', 'f2c2cbe1ea350a60'],
    ['take_bid_meta_hash', '55e3ca462dd70ac1'],
    ['take_bid_legacy', 'bc23746c00e9edc9'],
    ['take_bid_core', 'fa29f8143da11b8d'],
    ['tcomp_noop', '6aa20ae28444df15'],
  ])('computes the discriminator of %s as its client does', (name, mark) => {
    expect(Buffer.from(anchorData(name)).toString('hex')).toBe(mark);
  });

  it('decodes a sale of a compressed NFT at the price of its self-call', () => {
    const names =
      'feeVault treeAuthority merkleTree logWrapper compressionProgram systemProgram bubblegumProgram marketplaceProgram listState buyer payer owner takerBroker! makerBroker!';
    const { decoded: actions, at } = decoded('buy', names, withRoyalty, takeEvent(PRICE, null));
    expect(actions).toEqual([
      {
        type: 'COMPRESSED_NFT_SALE',
        info: {
          ...{ buyer: at.buyer, seller: at.owner, currency: nativeMint, list_state: at.listState },
          ...{ marketplace: tcomp, merkle_tree: at.merkleTree, nft_address: assetOf(at.merkleTree!) },
          ...{ price: 2.5, royalty_percentage: 50 },
        },
      },
    ]);
  });

  it('decodes a sale in a token with its decimals', () => {
    const names =
      'feeVault feeVaultAta treeAuthority merkleTree logWrapper compressionProgram systemProgram bubblegumProgram marketplaceProgram tokenProgram associatedTokenProgram listState buyer payer payerSource owner ownerDest currency';
    const { decoded: actions, at } = decoded('buy_spl', names, withRoyalty, takeEvent(7_250_000n, usdc));
    const parties = { buyer: at.buyer, seller: at.owner, list_state: at.listState };
    expect(actions?.[0]?.info).toMatchObject({
      merkle_tree: at.merkleTree,
      nft_address: assetOf(at.merkleTree!),
    });
    expect(actions?.[0]?.info).toMatchObject({ ...parties, currency: usdc, price: 7.25 });
    expect(decoded('buy_spl', names, withRoyalty).decoded?.[0]?.info).toMatchObject({
      ...{ currency: at.currency, price: null },
    });
  });

  it.each([
    ['buy_legacy', 'feeVault buyer buyerTa listTa listState mint owner payer takerBroker!', false],
    [
      'buy_legacy_spl',
      'feeVault feeVaultTa buyer buyerTa listTa listState mint currency owner ownerTa payer',
      true,
    ],
    ['buy_t22', 'feeVault buyer buyerTa listState listTa mint owner payer', false],
    ['buy_t22_spl', 'feeVault feeVaultTa buyer buyerTa listState listTa mint currency owner ownerTa', true],
    ['buy_wns', 'feeVault buyer buyerTa listState listTa mint owner payer', false],
    ['buy_wns_spl', 'feeVault feeVaultTa buyer buyerTa listTa listState mint currency owner ownerTa', true],
    ['buy_core', 'feeVault listState mint collection! buyer payer owner takerBroker!', false],
    ['buy_core_spl', 'feeVault feeVaultTa buyer listState mint collection! currency owner ownerTa', true],
  ])('decodes a sale by %s', (name, names, inToken) => {
    const event = inToken ? takeEvent(7_250_000n, usdc) : takeEvent(PRICE, null);
    const { decoded: actions, at } = decoded(name, names, (args) => args.u64(9n * PRICE), event);
    const price = inToken ? { currency: usdc, price: 7.25 } : { currency: nativeMint, price: 2.5 };
    const info = { buyer: at.buyer, seller: at.owner, nft_address: at.mint, marketplace: tcomp };
    expect(actions).toEqual([{ type: 'NFT_SALE', info: { ...info, ...price } }]);
    const named = inToken ? at.currency : nativeMint;
    expect(decoded(name, names, (args) => args.u64(1n)).decoded?.[0]?.info).toMatchObject({
      ...{ currency: named, price: null },
    });
  });

  it('decodes a listing of a compressed NFT with its terms', () => {
    const names =
      'treeAuthority owner delegate merkleTree logWrapper compressionProgram systemProgram bubblegumProgram marketplaceProgram listState rentPayer cosigner!';
    const { decoded: actions, at } = decoded('list', names, (args) => {
      leaf(args);
      args.zeros(64);
      return terms(args);
    });
    expect(actions?.[0]?.type).toBe('COMPRESSED_NFT_LIST');
    expect(JSON.parse(JSON.stringify(actions?.[0]?.info))).toEqual({
      ...{ seller: at.owner, currency: nativeMint, list_state: at.listState, marketplace: tcomp },
      ...{ merkle_tree: at.merkleTree, nft_address: assetOf(at.merkleTree!), price: 2.5 },
      ...{ expire_in_second: { text: '86400' }, private_taker: someone(8) },
    });
  });

  it.each([
    ['list_legacy', 'owner ownerTa listState listTa mint payer tokenProgram'],
    ['list_t22', 'owner ownerTa listState listTa mint payer tokenProgram'],
    ['list_core', 'mint collection! listState owner mplCoreProgram marketplaceProgram'],
  ])('decodes a listing by %s', (name, names) => {
    const { decoded: actions, at } = decoded(name, names, terms);
    const info = { seller: at.owner, marketplace: tcomp, price: 2.5, nft_address: at.mint };
    expect(actions).toEqual([{ type: 'NFT_LIST', info: { ...info, currency: nativeMint } }]);
  });

  const wns =
    'owner ownerTa listState listTa mint payer tokenProgram associatedTokenProgram marketplaceProgram systemProgram approve distribution wnsProgram distributionProgram extraMetas cosigner!';

  it('finds the currency of list_wns among its accounts', () => {
    const args: Written = (writer) => writer.u64(PRICE).u8(0).u8(0).u8(0);
    const inSol = decoded('list_wns', `${wns} currency!`, args);
    const info = { seller: inSol.at.owner, nft_address: inSol.at.mint };
    expect(inSol.decoded?.[0]?.info).toMatchObject({ ...info, currency: nativeMint, price: 2.5 });
    const inToken = decoded('list_wns', `${wns} currency`, args);
    expect(inToken.decoded?.[0]?.info).toMatchObject({ currency: inToken.at.currency, price: null });
  });

  it.each([
    [
      'delist',
      'treeAuthority merkleTree logWrapper compression system bubblegum listState owner marketplace',
    ],
    ['close_expired_listing', 'listState owner system marketplace treeAuthority merkleTree logWrapper'],
  ])('decodes the end of a compressed listing by %s', (name, names) => {
    const { decoded: actions, at } = decoded(name, names, (args) => {
      leaf(args);
      return args.zeros(64);
    });
    const info = { seller: at.owner, list_state: at.listState, marketplace: tcomp };
    const nft = { merkle_tree: at.merkleTree, nft_address: assetOf(at.merkleTree!) };
    expect(actions).toEqual([{ type: 'COMPRESSED_NFT_LIST_CANCEL', info: { ...info, ...nft } }]);
  });

  it.each([
    ['delist_legacy', 'owner ownerTa listState listTa mint rentDestination'],
    ['delist_t22', 'owner ownerTa listState listTa mint rentDestination'],
    ['delist_wns', 'owner ownerTa listState listTa mint rentDestination'],
    ['delist_core', 'mint collection! owner listState mplCoreProgram'],
    ['close_expired_listing_legacy', 'owner ownerTa listState listTa mint payer'],
    ['close_expired_listing_t22', 'owner ownerTa listState listTa mint payer'],
    ['close_expired_listing_wns', 'owner ownerTa listState listTa mint payer'],
    ['close_expired_listing_core', 'listState mint collection! owner mplCoreProgram'],
  ])('decodes the end of a listing by %s', (name, names) => {
    const { decoded: actions, at } = decoded(name, names, () => 0);
    const info = { seller: at.owner, marketplace: tcomp, nft_address: at.mint, price: null };
    expect(actions).toEqual([{ type: 'NFT_LIST_CANCEL', info }]);
  });

  it('decodes updated terms of the NFT in the self-call', () => {
    const compressed = assetOf(someone(4));
    const { decoded: actions, at } = decoded(
      'edit',
      'listState owner marketplaceProgram',
      terms,
      makeEvent(compressed),
    );
    expect(actions?.[0]?.type).toBe('COMPRESSED_NFT_LIST_UPDATE');
    const info = { seller: at.owner, list_state: at.listState, nft_address: compressed, price: 2.5 };
    expect(actions?.[0]?.info).toMatchObject(info);
    const other = decoded('edit', 'listState owner marketplaceProgram', terms, makeEvent(plain)).decoded;
    expect(other).toEqual([
      {
        type: 'NFT_LIST_UPDATE',
        info: {
          ...{ seller: at.owner, marketplace: tcomp, nft_address: plain, old_price: null, new_price: 2.5 },
        },
      },
    ]);
  });

  const bidNames = 'systemProgram marketplaceProgram bidState owner marginAccount cosigner! rentPayer';
  const bidArgs =
    (target: number, targetId: Address): Written =>
    (args) => {
      args
        .bytes(addressBytes(someone(3)))
        .u8(target)
        .bytes(addressBytes(targetId))
        .u8(0)
        .u8(0);
      args.u64(PRICE).u32(4).u8(0);
      some(args, null);
      some(args, null);
      return some(args, null);
    };

  it('decodes a bid on a collection', () => {
    const { decoded: actions, at } = decoded('bid', bidNames, bidArgs(1, someone(4)));
    expect(actions).toEqual([
      {
        type: 'COMPRESSED_NFT_BID',
        info: {
          ...{ currency: nativeMint, marketplace: tcomp, price: 2.5, expire_in_second: null },
          ...{ private_taker: null, bid_state: at.bidState, bidder: at.owner },
          ...{ target: 'whitelist', target_id: someone(4), quantity: 4 },
        },
      },
    ]);
  });

  it('decodes a bid on one NFT by the kind of NFT', () => {
    const compressed = assetOf(someone(4));
    const { decoded: actions } = decoded('bid', bidNames, bidArgs(0, compressed));
    expect(actions?.[0]?.type).toBe('COMPRESSED_NFT_BID');
    expect(actions?.[0]?.info).toMatchObject({ target: 'assetId', target_id: compressed });
    const one = decoded('bid', bidNames, bidArgs(0, plain));
    const info = { bidder: one.at.owner, currency: nativeMint, marketplace: tcomp, price: 2.5 };
    expect(one.decoded).toEqual([{ type: 'NFT_BID', info: { ...info, nft_address: plain } }]);
    expect(decoded('bid', bidNames, bidArgs(2, plain)).decoded).toBeNull();
  });

  it.each(['cancel_bid', 'close_expired_bid'])('decodes the end of a bid by %s', (name) => {
    const { decoded: actions, at } = decoded(name, 'bidState owner systemProgram', () => 0);
    const info = { marketplace: tcomp, bid_state: at.bidState, bidder: at.owner };
    expect(actions).toEqual([{ type: 'COMPRESSED_NFT_BID_CANCEL', info }]);
  });

  const takeNames =
    'feeVault treeAuthority seller delegate merkleTree logWrapper compressionProgram systemProgram bubblegumProgram marketplaceProgram tensorswapProgram bidState owner takerBroker!';

  it('decodes a bid accepted with a compressed NFT', () => {
    const { decoded: actions, at } = decoded(
      'take_bid_meta_hash',
      takeNames,
      withRoyalty,
      takeEvent(PRICE, null),
    );
    expect(actions).toEqual([
      {
        type: 'COMPRESSED_NFT_TAKE_BID',
        info: {
          ...{ buyer: at.owner, seller: at.seller, currency: nativeMint, marketplace: tcomp },
          ...{ merkle_tree: at.merkleTree, nft_address: assetOf(at.merkleTree!), price: 2.5 },
          ...{ royalty_percentage: 50, bid_state: at.bidState },
        },
      },
    ]);
    const whole = decoded('take_bid_full_meta', takeNames, leaf, takeEvent(PRICE, null)).decoded;
    const nft = { nft_address: assetOf(at.merkleTree!), price: 2.5, royalty_percentage: null };
    expect(whole?.[0]?.info).toMatchObject(nft);
  });

  it.each([
    ['take_bid_legacy', 'feeVault seller bidState owner takerBroker! makerBroker! margin whitelist ta mint'],
    ['take_bid_t22', 'feeVault seller bidState owner takerBroker! makerBroker! margin whitelist ta mint'],
    ['take_bid_wns', 'feeVault seller bidState owner takerBroker! makerBroker! margin whitelist ta mint'],
    ['take_bid_core', 'feeVault seller bidState owner takerBroker! makerBroker! margin whitelist mint'],
  ])('decodes a sale to a bidder by %s', (name, names) => {
    const { decoded: actions, at } = decoded(name, names, (args) => args.u64(1n), takeEvent(PRICE, null));
    const info = { buyer: at.owner, seller: at.seller, nft_address: at.mint, currency: nativeMint };
    expect(actions).toEqual([{ type: 'NFT_SALE', info: { ...info, marketplace: tcomp, price: 2.5 } }]);
  });

  it('ignores self-calls of another instruction', () => {
    const { accounts } = accountsOf('feeVault listState mint collection! buyer payer owner', tcomp);
    const buy = { program: tcomp, accounts, data: anchorData('buy_core', (args) => args.u64(1n)) };
    const noop = { program: tcomp, height: 2, parentProgram: tcomp, data: takeEvent(PRICE, null) };
    const priceOf = (call: { outer: number; caller: number; height?: number | null }) =>
      actionsOf(executedTransaction([buy, buy, { ...noop, ...call }]))?.[0]?.info.price;
    expect(priceOf({ outer: 1, caller: 1 })).toBeNull();
    expect(priceOf({ outer: 0, caller: 1 })).toBeNull();
    expect(priceOf({ outer: 0, caller: 0 })).toBe(2.5);
  });
});
