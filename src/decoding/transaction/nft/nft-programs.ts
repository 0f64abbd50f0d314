import { type Address, address } from '../../../solana/address.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { ProgramParser, ReadInstruction } from '../action.ts';
import { auctionHouse } from './auction-house.ts';
import { bubblegum, bubblegumProgram, noopPrograms } from './bubblegum.ts';
import { formfunction } from './formfunction.ts';
import { anchorReader, type InstructionLayout, layout, numberedReader } from './instruction-layout.ts';
import { magicEden, magicEdenProgram } from './magic-eden.ts';
import { mplCore } from './mpl-core.ts';
import { currencyOf, nftAction, priced, SOL, statedPrice } from './nft-actions.ts';
import { loggedNumber } from './program-logs.ts';
import { tensorAmm, tensorAmmProgram } from './tensor-amm.ts';
import { tensorMarketplace, tensorMarketplaceProgram } from './tensor-marketplace.ts';
import { tensorSwap, tensorSwapProgram } from './tensor-swap.ts';
import { tokenMetadata } from './token-metadata.ts';

/**
 * In a trade with the Magic Eden AMM (MMM), one party is the pool owner and the other the payer; the program logs the
 * price. Source: me-foundation/mmm 0a054d2, sdk/src/idl/mmm.ts and programs/mmm/src/instructions.
 */
const magicEdenAmmProgram = address('mmm3XBJg5gk8XJxEKBvdgptZz6SgK4tXvn36sodowMc');

const fulfillPoolOrder = (mintAt: number, poolBuys: boolean): InstructionLayout =>
  layout({ payer: 0, owner: 1, pool: 4, nft_address: mintAt }, (call) => {
    const { at, transaction } = call;
    const [buyer, seller] = poolBuys ? [at.owner, at.payer] : [at.payer, at.owner];
    const parties = { buyer, seller, marketplace: magicEdenAmmProgram };
    const amount = priced(SOL, loggedNumber(call, 'total_price'), transaction);
    return nftAction('NFT_SALE', { ...at, ...parties, ...amount });
  });

const readMagicEdenAmm = anchorReader({
  sol_fulfill_buy: fulfillPoolOrder(8, true),
  sol_fulfill_sell: fulfillPoolOrder(8, false),
  'sol_ocp_fulfill_buy sol_mip1_fulfill_buy': fulfillPoolOrder(7, true),
  'sol_ocp_fulfill_sell sol_mip1_fulfill_sell': fulfillPoolOrder(7, false),
  'sol_ext_fulfill_buy sol_mpl_core_fulfill_buy': fulfillPoolOrder(6, true),
  'sol_ext_fulfill_sell sol_mpl_core_fulfill_sell': fulfillPoolOrder(6, false),
});

const magicEdenAmm: ProgramParser = { name: 'MAGIC_EDEN_AMM', read: readMagicEdenAmm };

/**
 * Metaplex v1 auctions, used by Holaplex stores. A bid does not name the NFT, and redeeming is a plain
 * transfer. Source: metaplex-foundation/metaplex v1, `AuctionInstruction`; recorded transactions of Holaplex.
 */
const placeAuctionBid = layout({ bidder: 0, marketplace: 5, mint: 7 }, (call) =>
  nftAction('NFT_BID', { ...call.at, nft_address: null, ...statedPrice(call, currencyOf(call.at.mint)) }),
);

const metaplexAuction: ProgramParser = {
  name: 'METAPLEX_AUCTION',
  read: numberedReader({ 6: placeAuctionBid }),
};

const unknown: ReadInstruction = () => null;

/** Stores Merkle trees for other programs; the calling program's action reports the change. */
const compression: ProgramParser = {
  name: 'ACCOUNT_COMPRESSION',
  read: ({ caller }) => (caller === null ? null : []),
};

const noop: ProgramParser = { name: 'NOOP', read: () => [] };

export const nftPrograms: ReadonlyMap<Address, ProgramParser> = new Map<Address, ProgramParser>([
  [appPrograms.tokenMetadata, tokenMetadata],
  [appPrograms.mplCore, mplCore],
  [bubblegumProgram, bubblegum],
  ...[...noopPrograms].map((program) => [program, noop] as const),
  [address('cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK'), compression],
  [address('mcmt6YrQEMKw8Mw43FmpRLmf7BqRnFMKmAcbxE3xkAW'), compression],
  [address('hausS13jsjafwWwGqZTUQRmWyvyxn9EQpqMwV1PBBmk'), auctionHouse],
  [address('formn3hJtt8gvVKxpCfzCJGuoz6CNUFcULFZW18iTpC'), formfunction],
  // Development deployment of the same program.
  [address('devmBQyHHBPiLcuCqbWWRYxCG33ntAfPD5nXZeLd4eX'), formfunction],
  [address('auctxRXPeJoc4817jDhf4HbjnhEcr1cCXenosMhK5R8'), metaplexAuction],
  [
    address('p1exdMJcjVao65QdewkaZRUnU6VPSXhus9n2GzWfh98'),
    { name: 'METAPLEX_AUCTION_MANAGER', read: unknown },
  ],
  [address('vau1zxA2LbssAUEF7Gpw91zMM1LvXrvpzJtmZ58rPsn'), { name: 'METAPLEX_TOKEN_VAULT', read: unknown }],
  [magicEdenProgram, magicEden],
  [magicEdenAmmProgram, magicEdenAmm],
  [tensorSwapProgram, tensorSwap],
  [tensorMarketplaceProgram, tensorMarketplace],
  [tensorAmmProgram, tensorAmm],
]);
