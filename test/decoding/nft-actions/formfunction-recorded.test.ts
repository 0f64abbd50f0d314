import { describe, expect, it } from 'vitest';
import type { ExecutedTransaction } from '../../../src/decoding/transaction/executed-transaction.ts';
import { parsedTransaction, parseEffects } from '../../../src/decoding/transaction/parse-transaction.ts';
import { nativeMint } from '../../../src/solana/programs.ts';
import { hasRecordings, readRecorded } from './recorded-transactions.ts';
import { allActions } from './transaction-builder.ts';

/** ../shared/data/rest/getTransaction/formfunction. Expectations were read by hand from balances and logs. */
const SOL = nativeMint;
const HOUSE = 'DJ117NHZaXzpKQ5VwHzQBGzJYKwRT6vaxWd2q39gkXxN';
const AUTHORITY_OF_SALES = '7GLfUpbAgwk8RM7CL5nHWMBrCgxXvaP8SpZXPvWyrxCg';

type Expected = Readonly<{ at: number; type: string; info: Readonly<Record<string, unknown>> }>;

const files: Readonly<Record<string, readonly Expected[]>> = {
  BidTxSol: [
    {
      ...{ at: 4, type: 'NFT_BID' },
      info: {
        ...{ bidder: 'CnXicErFtkKtLjR9NDECEaNA9b5jsfpC3DuD1cA1aivQ', currency: SOL, marketplace: HOUSE },
        ...{ price: 0.1, nft_address: '8A9zZfi8pejuDuzYPWTKaSkhdCFVqmmhhEC3v4xrtr5P' },
      },
    },
  ],
  // A bot tax to another program: no purchase, no mint.
  BuyEditionBotTaxedTx: [],
  BuyEditionV2TxSol: [
    {
      ...{ at: 1, type: 'NFT_SALE' },
      info: {
        buyer: '5ciZskbqstAtmD8PhZkrTcdru4ZGWJCr3sgRSwvCy24y',
        seller: 'C7XtWMtkZWeBeQMgisTdwyxAxfYkyMopaDWi8TWB6w2E',
        nft_address: '4G9iVEeVSwF87hzqwfrKwg7shtiwdWEoYFtZYuuJuhve',
        ...{ currency: SOL, marketplace: HOUSE, price: 0.01 },
      },
    },
    {
      ...{ at: 10, type: 'NFT_MINT' },
      info: {
        nft_address: '4G9iVEeVSwF87hzqwfrKwg7shtiwdWEoYFtZYuuJuhve',
        owner_associated_account: 'J3SPPMtgrLDpEu7mtJsi8YdHmVHw1tS6AFhzeFjWnuie',
        owner: '5ciZskbqstAtmD8PhZkrTcdru4ZGWJCr3sgRSwvCy24y',
        collection_address: null,
      },
    },
  ],
  // The trade state's wallet does not hold the NFT, so it was a bid of unknown currency.
  CancelListingTx: [
    {
      ...{ at: 0, type: 'NFT_BID_CANCEL' },
      info: {
        ...{ bidder: 'qM7joxSFSGPG4exosa42UQxvdEesq9KV18wiY4bi9HQ', currency: null, price: null },
        marketplace: 'u5pLTMPar2nvwyPPVKbJ3thqfv7hPADdn3eR8zo1Q2M',
        nft_address: '8m8Br2Vzrqw164kP67VFZbMYbowiATY965kfaqjEvrLB',
      },
    },
  ],
  CancelOfferTxUsdc: [
    {
      ...{ at: 0, type: 'NFT_BID_CANCEL' },
      info: {
        ...{ bidder: AUTHORITY_OF_SALES, currency: 'Gh9ZwEmdLJ8DscKNTkTqPbNwLNNBjuSzaG9Vp2KGtKJr', price: 3 },
        marketplace: 'CXfjR5HG27MWd33xM753QmEFbNbbqUphqNPSL32ayJcs',
        nft_address: '334GmGs16q3adKg8JGHuskAnFvmMmmTinyLt4YZQCVCH',
      },
    },
  ],
  // The NFT moves; print authority changes are not shown.
  CloseEditionDistributorTokenAccountTxByAuthority: [],
  CreateEditionDistributorTx: [],
  CreateEditionDistributorWithTreasuryMintTxUsdc: [],
  UpdateEditionDistributorWithTreasuryMintTxSol: [],
  // The bid names only the auction.
  HolaplexBidTx: [
    {
      ...{ at: 5, type: 'NFT_BID' },
      info: {
        ...{ bidder: 'Bq34mzpPuWLDvScjKB8HYuqWJoX8PfPKbmjSqFBBwFb6', currency: SOL, price: 1 },
        ...{ marketplace: 'D7Hsn9otd1gDLKxG1A7BNTc7FYdRCEBm8gTaWHFxmeAJ', nft_address: null },
      },
    },
  ],
  // Plain transfers.
  HolaplexClaimBidTx: [],
  HolaplexRedeemFullRightsTx: [],
  HolaplexRedeemTx: [],
  // The bid at 4 is executed at once.
  InstantSaleTxSol: [
    {
      ...{ at: 6, type: 'NFT_SALE' },
      info: {
        buyer: 'C7XtWMtkZWeBeQMgisTdwyxAxfYkyMopaDWi8TWB6w2E',
        seller: 'CnXicErFtkKtLjR9NDECEaNA9b5jsfpC3DuD1cA1aivQ',
        nft_address: 'D2bn9fg3qy2uCijjfsWXR95A722YU9aaCg5BkiaK8V1B',
        ...{ currency: SOL, marketplace: HOUSE, price: 0.01 },
      },
    },
  ],
  ListForAuctionTxSol: [
    {
      ...{ at: 4, type: 'NFT_LIST' },
      info: {
        ...{ seller: AUTHORITY_OF_SALES, marketplace: HOUSE, price: 0.1, currency: SOL },
        nft_address: '8UcFNnXKxhzcMNrZ5W4SAnJH8VgWShsThVAmkv57GaoZ',
      },
    },
  ],
  ListForInstantSaleTxSol: [
    {
      ...{ at: 4, type: 'NFT_LIST' },
      info: {
        seller: 'CnXicErFtkKtLjR9NDECEaNA9b5jsfpC3DuD1cA1aivQ',
        ...{ marketplace: HOUSE, price: 0.01, currency: SOL },
        nft_address: 'D2bn9fg3qy2uCijjfsWXR95A722YU9aaCg5BkiaK8V1B',
      },
    },
  ],
  MintNewEditionFromMasterEditionViaTokenTx: [
    {
      ...{ at: 8, type: 'NFT_MINT' },
      info: {
        nft_address: 'CrdzMXhR2zZEiEC4W8LvYdkwCWSShz1SRhr1GabzpQvs',
        owner_associated_account: '6sjdgcCd4AUzaDhGrm4A8BCrYbXGbYP5owrzPeX3Syzj',
        owner: '9K4XUuN1rm5ErTzCH5kUg6L3KjC6SvMKMmtspar5HQGi',
        collection_address: null,
      },
    },
  ],
  OfferTxSol: [
    {
      ...{ at: 4, type: 'NFT_BID' },
      info: {
        ...{ bidder: AUTHORITY_OF_SALES, currency: SOL, marketplace: HOUSE, price: 1 },
        nft_address: '6zyTtuGxS5c59j9QDva1zJkR2GTCuZMEsMdog6wGyjrR',
      },
    },
  ],
  // Listed for 0.1, bought for 0.2.
  SettleAuctionTxSol: [
    {
      ...{ at: 0, type: 'NFT_SALE' },
      info: {
        ...{ buyer: 'H2Kj8NvbNiEi7ccSXGJ85PRCbyNLp3gcNrxZe7EtkacN', seller: AUTHORITY_OF_SALES },
        nft_address: '8UcFNnXKxhzcMNrZ5W4SAnJH8VgWShsThVAmkv57GaoZ',
        ...{ currency: SOL, marketplace: HOUSE, price: 0.2 },
      },
    },
  ],
  SoldGenerativeMintTx: [
    {
      ...{ at: 14, type: 'NFT_MINT' },
      info: {
        nft_address: '2rP2VievkxM6sTaWAeWVhj5Z1YVQAeSbYJ6fh1XHxRA8',
        owner_associated_account: '7d6dqEUw2PDiDkfPq779wzCi6sxtpR3rtBsqFQEKh7ty',
        owner: '9bHQcZZg778Ri9gZV253dXkeQ3RWVQEZsTseH2VNb2eT',
        collection_address: '849JgKE3ivJkyuG9mxNbgwjvtRtboKDQMQF3ZAgW75y3',
      },
    },
  ],
};

/** Type and protocol of each transaction. */
const chief: Readonly<Record<string, readonly [string, string]>> = {
  BidTxSol: ['NFT_BID', 'FORMFUNCTION'],
  BuyEditionBotTaxedTx: ['TOKEN_CREATE', 'Token Program'],
  BuyEditionV2TxSol: ['NFT_SALE', 'FORMFUNCTION'],
  CancelListingTx: ['NFT_BID_CANCEL', 'FORMFUNCTION'],
  CancelOfferTxUsdc: ['NFT_BID_CANCEL', 'FORMFUNCTION'],
  CloseEditionDistributorTokenAccountTxByAuthority: ['NFT_TRANSFER', 'Token Program'],
  CreateEditionDistributorTx: ['NFT_TRANSFER', 'Token Program'],
  CreateEditionDistributorWithTreasuryMintTxUsdc: ['NFT_TRANSFER', 'Token Program'],
  UpdateEditionDistributorWithTreasuryMintTxSol: ['UNKNOWN', 'FORMFUNCTION'],
  HolaplexBidTx: ['NFT_BID', 'METAPLEX_AUCTION'],
  HolaplexClaimBidTx: ['TOKEN_TRANSFER', 'Token Program'],
  HolaplexRedeemFullRightsTx: ['NFT_TRANSFER', 'Token Program'],
  HolaplexRedeemTx: ['NFT_TRANSFER', 'Token Program'],
  InstantSaleTxSol: ['NFT_SALE', 'FORMFUNCTION'],
  ListForAuctionTxSol: ['NFT_LIST', 'FORMFUNCTION'],
  ListForInstantSaleTxSol: ['NFT_LIST', 'FORMFUNCTION'],
  MintNewEditionFromMasterEditionViaTokenTx: ['NFT_MINT', 'TOKEN_METADATA'],
  OfferTxSol: ['NFT_BID', 'FORMFUNCTION'],
  SettleAuctionTxSol: ['NFT_SALE', 'FORMFUNCTION'],
  SoldGenerativeMintTx: ['NFT_MINT', 'TOKEN_METADATA'],
};

/** Lamports moved under an instruction to existing accounts; rent of new ones is excluded. */
function paidBeneath(transaction: ExecutedTransaction, outer: number): bigint {
  const moved = transaction.instructions.filter(
    (one) => one.outer === outer && one.parsed?.type === 'transfer',
  );
  const received = moved
    .map(({ parsed }) => parsed?.info ?? {})
    .filter(({ destination }) => {
      const at = transaction.accountKeys.indexOf(destination as never);
      return (transaction.preBalances[at] ?? 0n) > 0n;
    });
  return received.reduce((sum, { lamports }) => sum + BigInt(String(lamports ?? 0)), 0n);
}

const inLamports = (sol: unknown): bigint => BigInt(Math.round(Number(sol) * 1e9));

function gained(transaction: ExecutedTransaction, owner: unknown, mint: unknown): bigint {
  const accounts = [...transaction.tokenAccounts.values()];
  const own = accounts.filter((account) => account.owner === owner && account.mint === mint);
  return own.reduce((sum, { before, after }) => sum + after - before, 0n);
}

describe.skipIf(!hasRecordings)('recorded transactions of Formfunction (../shared/data/rest)', () => {
  it.each(Object.keys(files))('decodes %s', (file) => {
    const actions = allActions(readRecorded(`formfunction/${file}.json`));
    expect(actions).toHaveLength(files[file]?.length ?? 0);
    expect(actions).toMatchObject(files[file] ?? []);
  });

  it.each(Object.entries(chief))('gives %s the type %j', (file, [type, name]) => {
    const transaction = readRecorded(`formfunction/${file}.json`);
    const parsed = parsedTransaction(transaction, parseEffects(transaction), new Map(), { events: false });
    expect([parsed.type, parsed.protocol.name]).toEqual([type, name]);
  });

  it.each(['BuyEditionV2TxSol', 'InstantSaleTxSol', 'SettleAuctionTxSol'])(
    'matches the balances for the sale of %s',
    (file) => {
      const transaction = readRecorded(`formfunction/${file}.json`);
      const { at, info } = allActions(transaction).find(({ type }) => type === 'NFT_SALE')!;
      const { outer } = transaction.instructions.find(({ index }) => index === at)!;
      expect(paidBeneath(transaction, outer)).toBe(inLamports(info.price));
      expect(gained(transaction, info.buyer, info.nft_address)).toBe(1n);
    },
  );

  it.each(['BidTxSol', 'OfferTxSol'])('matches the balances for the bid of %s', (file) => {
    const transaction = readRecorded(`formfunction/${file}.json`);
    const { info } = allActions(transaction).find(({ type }) => type === 'NFT_BID')!;
    const at = transaction.accountKeys.indexOf(info.bidder as never);
    const spent = (transaction.preBalances[at] ?? 0n) - (transaction.postBalances[at] ?? 0n);
    expect(spent - transaction.fee).toBe(inLamports(info.price));
  });

  it('matches the balances for a canceled token bid', () => {
    const transaction = readRecorded('formfunction/CancelOfferTxUsdc.json');
    const { info } = allActions(transaction)[0]!;
    expect(gained(transaction, info.bidder, info.currency)).toBe(BigInt(Number(info.price) * 1e6));
  });

  it('shows an NFT minted by another program as an inner action', () => {
    const { actions } = parseEffects(readRecorded('formfunction/BuyEditionV2TxSol.json'));
    const [sale] = actions.filter(({ type }) => type === 'NFT_SALE');
    const [mint] = actions.filter(({ type }) => type === 'NFT_MINT');
    expect(sale?.parent_protocol).toBeUndefined();
    expect(mint?.parent_protocol).toBe(sale?.source_protocol.address);
    expect(mint?.source_protocol.name).toBe('TOKEN_METADATA');
  });

  it('leaves the movements of a sale to the transfers', () => {
    const { actions } = parseEffects(readRecorded('formfunction/SettleAuctionTxSol.json'));
    const types = actions.map(({ type }) => type);
    expect(types.filter((type) => type === 'NFT_SALE')).toHaveLength(1);
    expect(types.filter((type) => type === 'NFT_TRANSFER')).toHaveLength(1);
    expect(types.filter((type) => type === 'SOL_TRANSFER')).toHaveLength(3);
  });
});
