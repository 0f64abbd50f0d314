import type { Address } from '../../../solana/address.ts';
import { isTokenProgram } from '../../../solana/programs.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { ProgramParser } from '../action.ts';
import { byEachName } from '../by-each-name.ts';
import type {
  ExecutedInstruction,
  ExecutedTransaction,
  TransactionTokenAccount,
} from '../executed-transaction.ts';
import { oncePerTransaction } from '../once-per-transaction.ts';
import { ignored, layout, numberedReader, unless } from './instruction-layout.ts';
import { nftAction, ONE_NFT } from './nft-actions.ts';

type MintedNft = Readonly<{
  mint: Address;
  metadata: Address;
  tokenAccount: Address;
  owner: Address | null;
  collection: Address | null;
  index: number;
}>;

/** Account positions. If several instructions mint the same NFT, the instruction with the highest `rank` reports it. */
type MintLayout = Readonly<{ mint: number; metadata: number; rank: number }>;

const mintLayouts = byEachName<number, MintLayout>(
  {
    // CreateMetadataAccount, V2 and V3.
    '0 16 33': { mint: 1, metadata: 0, rank: 0 },
    // CreateMasterEdition and V3.
    '10 17': { mint: 1, metadata: 5, rank: 1 },
    // MintNewEditionFromMasterEdition, via token and via vault.
    '11 13': { mint: 3, metadata: 0, rank: 1 },
    // Mint.
    43: { mint: 5, metadata: 2, rank: 2 },
    // Print.
    55: { mint: 2, metadata: 0, rank: 2 },
  },
  Number,
);

const VERIFY = 52;
const VERIFY_COLLECTION = 1;

const verifyLayouts = byEachName<number, Readonly<{ metadata: number; collection: number }>>(
  {
    '18 30': { metadata: 0, collection: 3 },
    // SetAndVerifyCollection, plain and sized.
    '25 32': { metadata: 0, collection: 4 },
    [VERIFY]: { metadata: 2, collection: 3 },
  },
  Number,
);

const numberOf = ({ program, data }: ExecutedInstruction): number =>
  program === appPrograms.tokenMetadata ? (data[0] ?? -1) : -1;

function findMintedNfts(transaction: ExecutedTransaction): ReadonlyMap<Address, MintedNft> {
  const { tokenAccounts, decimals, instructions } = transaction;
  const holders = new Map<Address, TransactionTokenAccount>();
  for (const account of tokenAccounts.values()) {
    const isIndivisible = (account.decimals ?? decimals.get(account.mint)) === 0;
    if (isIndivisible && account.before === 0n && account.after === 1n) holders.set(account.mint, account);
  }
  const collections = new Map<Address, Address>();
  for (const instruction of instructions) {
    const number = numberOf(instruction);
    const verifyLayout = verifyLayouts.get(number);
    if (verifyLayout === undefined || (number === VERIFY && instruction.data[1] !== VERIFY_COLLECTION))
      continue;
    const metadata = instruction.accounts[verifyLayout.metadata];
    const collection = instruction.accounts[verifyLayout.collection];
    if (metadata !== undefined && collection !== undefined) collections.set(metadata, collection);
  }
  const made = new Map<Address, MintedNft & { rank: number }>();
  for (const instruction of instructions) {
    const mintLayout = mintLayouts.get(numberOf(instruction));
    if (mintLayout === undefined) continue;
    const mint = instruction.accounts[mintLayout.mint];
    const metadata = instruction.accounts[mintLayout.metadata];
    const holder = mint === undefined ? undefined : holders.get(mint);
    if (holder === undefined || mint === undefined || metadata === undefined) continue;
    if ((made.get(mint)?.rank ?? -1) >= mintLayout.rank) continue;
    made.set(mint, {
      ...{ mint, metadata, tokenAccount: holder.address, owner: holder.owner, rank: mintLayout.rank },
      ...{ collection: collections.get(metadata) ?? null, index: instruction.index },
    });
  }
  return made;
}

/** NFTs minted in a transaction, keyed by mint; empty if the transaction failed. */
export const mintedNfts = oncePerTransaction((transaction) =>
  transaction.err === null ? findMintedNfts(transaction) : new Map<Address, MintedNft>(),
);

/** True if the token program executes the burn or transfer, which the token parser then reports. */
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

/** True for metadata of an NFT minted in this transaction: the mint action reports the NFT. */
const isPartOfMint =
  (metadataAt: number) =>
  ({ accounts }: ExecutedInstruction, transaction: ExecutedTransaction): boolean =>
    [...mintedNfts(transaction).values()].some(({ metadata }) => metadata === accounts[metadataAt]);

const isNewMint = (mint: Address, { instructions }: ExecutedTransaction): boolean =>
  instructions.some(
    ({ parsed }) => parsed?.type.startsWith('initializeMint') === true && parsed.info.mint === mint,
  );

/** The instruction with the highest rank reports the new NFT. Instructions for existing mints are UNKNOWN. */
const mintInstruction = (mintAt: number) =>
  layout({ mint: mintAt }, ({ at, instruction, transaction }) => {
    const made = mintedNfts(transaction).get(at.mint);
    if (made === undefined) return isNewMint(at.mint, transaction) ? [] : null;
    if (made.index !== instruction.index) return [];
    return nftAction('NFT_MINT', {
      nft_address: made.mint,
      ...ONE_NFT,
      owner_associated_account: made.tokenAccount,
      owner: made.owner,
      collection_address: made.collection,
    });
  });

const unknownUnlessPartOfMint = (metadataAt: number) => unless(isPartOfMint(metadataAt), () => null);

const burn = (positions: Readonly<Record<'wallet' | 'nft_address', number>>) =>
  unless(
    isReportedByTokenProgram,
    layout(positions, ({ at }) => nftAction('NFT_BURN', { ...at, ...ONE_NFT })),
  );

const transfer = unless(
  isReportedByTokenProgram,
  layout({ sender: 1, receiver_associated_account: 2, receiver: 3, nft_address: 4 }, ({ at }) =>
    nftAction('NFT_TRANSFER', { ...at, ...ONE_NFT }),
  ),
);

const read = numberedReader({
  '0 10 16 17 33': mintInstruction(1),
  '11 13': mintInstruction(3),
  // Create: a mint and its metadata, without a token.
  42: mintInstruction(2),
  43: mintInstruction(5),
  55: mintInstruction(2),
  '1 7 15 18 25 30 32': unknownUnlessPartOfMint(0),
  52: unknownUnlessPartOfMint(2),
  '29 37': burn({ wallet: 1, nft_address: 2 }),
  41: burn({ wallet: 0, nft_address: 4 }),
  49: transfer,
  // BubblegumSetCollectionSize: part of the mint of a compressed NFT.
  36: ignored,
});

/** Source: metaplex-foundation/mpl-token-metadata c314930, idls/token_metadata.json. */
export const tokenMetadata: ProgramParser = { name: 'TOKEN_METADATA', read };
