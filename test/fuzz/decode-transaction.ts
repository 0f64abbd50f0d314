import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import { Keypair, verifyTransaction } from '../../src/solana/ed25519.ts';
import { decodeMessage, encodeMessage, type Message } from '../../src/solana/message/message.ts';
import { allKeys, isWritable } from '../../src/solana/message/message-keys.ts';
import { nonceOfTransaction } from '../../src/solana/nonce.ts';
import { programs } from '../../src/solana/programs.ts';
import { signatureBytes } from '../../src/solana/signature.ts';
import { compileMessage } from '../../src/solana/transaction/compile-message.ts';
import { feeOf } from '../../src/solana/transaction/compute-budget.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../src/solana/transaction/encode-transaction.ts';
import { memoOf } from '../../src/solana/transaction/memo.ts';
import { sanitizeTransaction } from '../../src/solana/transaction/sanitize-transaction.ts';

export const from = 'clients and nodes';
export const covers = [
  'solana/message/message.ts',
  'solana/nonce.ts',
  'solana/short-vec.ts',
  'solana/transaction/compute-budget.ts',
  'solana/transaction/decode-transaction.ts',
  'solana/transaction/memo.ts',
];

const payer = Keypair.fromSeed(new Uint8Array(32).fill(7));
const other = Keypair.fromSeed(new Uint8Array(32).fill(8)).address;

const legacy = compileMessage({
  feePayer: payer.address,
  recentBlockhash: blockhashFromBytes(new Uint8Array(32).fill(9)),
  instructions: [
    {
      programId: programs.system,
      accounts: [
        { address: payer.address, signer: true, writable: true },
        { address: other, signer: false, writable: true },
      ],
      data: Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0),
    },
    { programId: programs.memoV3, accounts: [], data: new TextEncoder().encode('hello') },
    { programId: programs.computeBudget, accounts: [], data: Uint8Array.of(2, 64, 13, 3, 0) },
  ],
});

const versioned: Message = {
  ...legacy,
  version: 0,
  addressTableLookups: [
    { accountKey: other, writableIndexes: Uint8Array.of(1, 2), readonlyIndexes: Uint8Array.of(3) },
  ],
};

/** Two small transactions, legacy and version 0. */
export const seeds: readonly Uint8Array[] = [legacy, versioned].map((message) => {
  const bytes = encodeMessage(message);
  return encodeTransaction([payer.sign(bytes)], bytes);
});

/** What the decoder accepts has exactly one encoding, and nothing that reads it throws. */
export function fuzz(input: Uint8Array): boolean {
  decodeMessage(input);
  const decoded = decodeTransaction(input);
  if ('fault' in decoded) return false;
  const { signatures, message } = decoded.transaction;
  const again = encodeTransaction(signatures.map(signatureBytes), encodeMessage(message));
  if (!Buffer.from(again).equals(input)) throw new Error('an accepted transaction has a second encoding');
  sanitizeTransaction(decoded.transaction);
  verifyTransaction(decoded.transaction);
  nonceOfTransaction(message);
  memoOf(message);
  feeOf(message);
  for (const index of allKeys(message).keys()) isWritable(message, index);
  return true;
}
