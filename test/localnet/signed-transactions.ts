import type { Address } from '../../src/ledger/address.ts';
import { encodeBase58 } from '../../src/ledger/base58.ts';
import type { Blockhash } from '../../src/ledger/blockhash.ts';
import type { Keypair } from '../../src/ledger/ed25519.ts';
import { encodeMessage } from '../../src/ledger/message/encode-message.ts';
import { programs } from '../../src/ledger/programs.ts';
import { compileMessage, type Instruction } from '../../src/ledger/transaction/compile-message.ts';
import { encodeTransaction } from '../../src/ledger/transaction/encode-transaction.ts';

/** A transaction as a client sends it. */
export type Signed = Readonly<{
  signature: string;
  wire: Uint8Array;
  base64: string;
  base58: string;
  message: string;
}>;

const u64 = (value: bigint): Uint8Array => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};

/** The system program's transfer. */
export const transfer = (from: Address, to: Address, lamports: bigint): Instruction => ({
  programId: programs.system,
  accounts: [
    { address: from, signer: true, writable: true },
    { address: to, signer: false, writable: true },
  ],
  data: Buffer.concat([Buffer.from([2, 0, 0, 0]), u64(lamports)]),
});

/** A memo without signers. */
export const memo = (text: string): Instruction => ({
  programId: programs.memoV3,
  accounts: [],
  data: Buffer.from(text),
});

/** A compute unit price in micro-lamports. */
export const unitPrice = (price: bigint): Instruction => ({
  programId: programs.computeBudget,
  accounts: [],
  data: Buffer.concat([Buffer.from([3]), u64(price)]),
});

/** A transaction with one signer; `signer` null leaves the signature all zeros. */
export function sign(
  payer: Keypair,
  instructions: readonly Instruction[],
  recentBlockhash: string,
  signer: Keypair | null = payer,
): Signed {
  const message = encodeMessage(
    compileMessage({
      feePayer: payer.address,
      instructions,
      recentBlockhash: recentBlockhash as Blockhash,
    }),
  );
  const signature = signer === null ? new Uint8Array(64) : signer.sign(message);
  const wire = encodeTransaction([signature], message);
  return {
    signature: encodeBase58(signature),
    wire,
    base64: Buffer.from(wire).toString('base64'),
    base58: encodeBase58(wire),
    message: Buffer.from(message).toString('base64'),
  };
}
