import type { Address } from '../../../solana/address.ts';
import { isTokenProgram } from '../../../solana/programs.ts';
import type { ProgramParser } from '../action.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';
import { ignored, layout, numberedReader, unless } from './instruction-layout.ts';
import { mintedNfts } from './minted-nfts.ts';
import { nftBurn, nftMint, nftTransfer } from './nft-actions.ts';

/**
 * Metaplex Token Metadata. Token program instructions report their part themselves. Source:
 * metaplex-foundation/mpl-token-metadata c314930, idls/token_metadata.json.
 */

const isReportedByTokenProgram = (
  { index, outer }: ExecutedInstruction,
  { instructions }: ExecutedTransaction,
): boolean =>
  instructions.some(
    (one) =>
      one.outer === outer &&
      one.index > index &&
      (one.height === null || one.caller === index) &&
      isTokenProgram(one.program),
  );

/** Whether the metadata belongs to an NFT minted in this transaction, which the mint action reports. */
const isPartOfMint =
  (metadataAt: number) =>
  ({ accounts }: ExecutedInstruction, transaction: ExecutedTransaction): boolean =>
    [...mintedNfts(transaction).values()].some(({ metadata }) => metadata === accounts[metadataAt]);

const isNewMint = (mint: Address, { instructions }: ExecutedTransaction): boolean =>
  instructions.some(
    ({ parsed }) => parsed?.type.startsWith('initializeMint') === true && parsed.info.mint === mint,
  );

/**
 * One of several instructions that mint an NFT; the highest-ranked reports it. For other new mints they are
 * not shown; for existing mints they are UNKNOWN.
 */
const mintStep = (mintAt: number) =>
  layout({ mint: mintAt }, ({ at, instruction, transaction }) => {
    const made = mintedNfts(transaction).get(at.mint);
    if (made === undefined) return isNewMint(at.mint, transaction) ? [] : null;
    if (made.index !== instruction.index) return [];
    const { mint, tokenAccount, owner, collection } = made;
    return nftMint({ nft: mint, tokenAccount, owner, collection });
  });

const unknownUnlessPartOfMint = (metadataAt: number) => unless(isPartOfMint(metadataAt), () => null);

const burn = unless(
  isReportedByTokenProgram,
  layout({ authority: 0, mint: 4 }, ({ at }) => nftBurn({ nft: at.mint, wallet: at.authority })),
);

const read = numberedReader({
  0: mintStep(1),
  1: unknownUnlessPartOfMint(0),
  7: unknownUnlessPartOfMint(0),
  10: mintStep(1),
  11: mintStep(3),
  13: mintStep(3),
  15: unknownUnlessPartOfMint(0),
  16: mintStep(1),
  17: mintStep(1),
  18: unknownUnlessPartOfMint(0),
  25: unknownUnlessPartOfMint(0),
  29: unless(
    isReportedByTokenProgram,
    layout({ owner: 1, mint: 2 }, ({ at }) => nftBurn({ nft: at.mint, wallet: at.owner })),
  ),
  30: unknownUnlessPartOfMint(0),
  32: unknownUnlessPartOfMint(0),
  33: mintStep(1),
  // Bubblegum's mint counter.
  36: ignored,
  37: unless(
    isReportedByTokenProgram,
    layout({ owner: 1, mint: 2 }, ({ at }) => nftBurn({ nft: at.mint, wallet: at.owner })),
  ),
  41: burn,
  // Create: new mint and metadata, without a token.
  42: mintStep(2),
  43: mintStep(5),
  49: unless(
    isReportedByTokenProgram,
    layout({ owner: 1, destination: 2, receiver: 3, mint: 4 }, ({ at }) =>
      nftTransfer({ nft: at.mint, sender: at.owner, receiver: at.receiver, receiverAccount: at.destination }),
    ),
  ),
  52: unknownUnlessPartOfMint(2),
  55: mintStep(2),
});

export const tokenMetadata: ProgramParser = { name: 'TOKEN_METADATA', read };
