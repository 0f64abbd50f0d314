import {
  createAssociatedTokenAccountInstruction,
  createInitializeMetadataPointerInstruction,
  createInitializeMintInstruction,
  createMintToInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token';
import { Keypair, type PublicKey, SystemProgram, Transaction, TransactionInstruction } from '@solana/web3.js';
import type { FundedService } from './funded-service.ts';

/** Discriminator of `spl_token_metadata_interface:initialize_account`. */
const INITIALIZE_METADATA = Buffer.from([210, 225, 30, 162, 88, 184, 77, 141]);

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
};

type Made = Readonly<{ name: string; symbol: string; uri: string; decimals: number; amount: bigint }>;

/** A Token-2022 mint with embedded metadata and its whole supply in the payer's wallet. */
async function mintWithMetadata(funded: FundedService, made: Made): Promise<PublicKey> {
  const { connection, payer } = funded;
  const mint = Keypair.generate();
  const size = getMintLen([ExtensionType.MetadataPointer]);
  const metadata = Buffer.concat([text(made.name), text(made.symbol), text(made.uri)]);
  const lamports = await connection.getMinimumBalanceForRentExemption(size + metadata.length + 512);
  const account = getAssociatedTokenAddressSync(
    mint.publicKey,
    payer.publicKey,
    false,
    TOKEN_2022_PROGRAM_ID,
  );
  const of = { mint: mint.publicKey, authority: payer.publicKey };
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: payer.publicKey }).add(
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: of.mint,
      lamports,
      space: size,
      programId: TOKEN_2022_PROGRAM_ID,
    }),
    createInitializeMetadataPointerInstruction(of.mint, of.authority, of.mint, TOKEN_2022_PROGRAM_ID),
    createInitializeMintInstruction(of.mint, made.decimals, of.authority, null, TOKEN_2022_PROGRAM_ID),
    new TransactionInstruction({
      programId: TOKEN_2022_PROGRAM_ID,
      keys: [
        { pubkey: of.mint, isSigner: false, isWritable: true },
        { pubkey: of.authority, isSigner: false, isWritable: false },
        { pubkey: of.mint, isSigner: false, isWritable: false },
        { pubkey: of.authority, isSigner: true, isWritable: false },
      ],
      data: Buffer.concat([INITIALIZE_METADATA, metadata]),
    }),
    createAssociatedTokenAccountInstruction(
      of.authority,
      account,
      of.authority,
      of.mint,
      TOKEN_2022_PROGRAM_ID,
    ),
    createMintToInstruction(of.mint, account, of.authority, made.amount, [], TOKEN_2022_PROGRAM_ID),
  );
  transaction.sign(payer, mint);
  await funded.confirmed(transaction);
  return of.mint;
}

/** @returns the mint. */
export const fungible = (
  funded: FundedService,
  { uri, decimals, amount }: Pick<Made, 'uri' | 'decimals' | 'amount'>,
): Promise<PublicKey> =>
  mintWithMetadata(funded, { name: 'Solway Test', symbol: 'SLWT', uri, decimals, amount });

/** @returns the mint. */
export const nft = (funded: FundedService, { uri }: Pick<Made, 'uri'>): Promise<PublicKey> =>
  mintWithMetadata(funded, { name: 'Solway #1', symbol: 'SLWN', uri, decimals: 0, amount: 1n });
