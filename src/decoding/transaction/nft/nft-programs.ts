import { type Address, address } from '../../../solana/address.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { ProgramParser, ReadInstruction } from '../action.ts';
import { auctionHouse } from './auction-house.ts';
import { bubblegum, bubblegumProgram, noopPrograms } from './bubblegum.ts';
import { formfunction } from './formfunction.ts';
import { magicEden, magicEdenProgram } from './magic-eden.ts';
import { magicEdenAmm, magicEdenAmmProgram } from './magic-eden-amm.ts';
import { metaplexAuction } from './metaplex-auction.ts';
import { mplCore } from './mpl-core.ts';
import { tensorAmm, tensorAmmProgram } from './tensor-amm.ts';
import { tensorMarketplace, tensorMarketplaceProgram } from './tensor-marketplace.ts';
import { tensorSwap, tensorSwapProgram } from './tensor-swap.ts';
import { tokenMetadata } from './token-metadata.ts';

const unknown: ReadInstruction = () => null;

/** Stores trees for other programs, which report their content. */
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
