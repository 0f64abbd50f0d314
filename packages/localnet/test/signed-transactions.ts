import { PublicKey } from '@solana/web3.js';
import { type Address, addressBytes } from '../../../src/solana/address.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import type { Blockhash } from '../../../src/solana/blockhash.ts';
import type { Keypair } from '../../../src/solana/ed25519.ts';
import { encodeMessage, type MessageVersion } from '../../../src/solana/message/message.ts';
import type { TransactionConfig } from '../../../src/solana/message/transaction-config.ts';
import { programs, sysvars } from '../../../src/solana/programs.ts';
import {
  type AccountMeta,
  compileMessage,
  type Instruction,
} from '../../../src/solana/transaction/compile-message.ts';
import { encodeTransaction } from '../../../src/solana/transaction/encode-transaction.ts';

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

export const transfer = (from: Address, to: Address, lamports: bigint): Instruction => ({
  programId: programs.system,
  accounts: [
    { address: from, signer: true, writable: true },
    { address: to, signer: false, writable: true },
  ],
  data: Buffer.concat([Buffer.from([2, 0, 0, 0]), u64(lamports)]),
});

export const memo = (text: string): Instruction => ({
  programId: programs.memoV3,
  accounts: [],
  data: Buffer.from(text),
});

export const unitPrice = (price: bigint): Instruction => ({
  programId: programs.computeBudget,
  accounts: [],
  data: Buffer.concat([Buffer.from([3]), u64(price)]),
});

export const unitLimit = (units: number): Instruction => {
  const data = Buffer.from([2, 0, 0, 0, 0]);
  data.writeUInt32LE(units, 1);
  return { programId: programs.computeBudget, accounts: [], data };
};

const key = (address: Address, signer: boolean, writable: boolean): AccountMeta => ({
  address,
  signer,
  writable,
});

/** The payer is its authority. */
export const nonceAccount = (payer: Address, nonce: Address, lamports: bigint): Instruction[] => [
  {
    programId: programs.system,
    accounts: [key(payer, true, true), key(nonce, true, true)],
    data: Buffer.concat([Buffer.alloc(4), u64(lamports), u64(80n), addressBytes(programs.system)]),
  },
  {
    programId: programs.system,
    accounts: [
      key(nonce, false, true),
      key(sysvars.recentBlockhashes, false, false),
      key(sysvars.rent, false, false),
    ],
    data: Buffer.concat([Buffer.from([6, 0, 0, 0]), addressBytes(payer)]),
  },
];

export const advanceNonce = (nonce: Address, authority: Address): Instruction => ({
  programId: programs.system,
  accounts: [
    key(nonce, false, true),
    key(sysvars.recentBlockhashes, false, false),
    key(authority, true, false),
  ],
  data: Buffer.from([4, 0, 0, 0]),
});

export function associatedTokenAccount(
  wallet: Address,
  mint: Address,
): { address: Address; create: Instruction } {
  const [derived] = PublicKey.findProgramAddressSync(
    [wallet, programs.token, mint].map(addressBytes),
    new PublicKey(programs.ata),
  );
  const address = derived.toBase58() as Address;
  const accounts = [
    key(wallet, true, true),
    key(address, false, true),
    ...[wallet, mint, programs.system, programs.token].map((at) => key(at, false, false)),
  ];
  return { address, create: { programId: programs.ata, accounts, data: new Uint8Array() } };
}

export const newMint = (payer: Address, mint: Address, decimals: number): Instruction[] => [
  {
    programId: programs.system,
    accounts: [key(payer, true, true), key(mint, true, true)],
    data: Buffer.concat([Buffer.alloc(4), u64(1_461_600n), u64(82n), addressBytes(programs.token)]),
  },
  {
    programId: programs.token,
    accounts: [key(mint, false, true)],
    data: Buffer.concat([Buffer.from([20, decimals]), addressBytes(payer), Buffer.from([0])]),
  },
];

/** `signer` null leaves an all-zero signature. */
export const sign = (
  payer: Keypair,
  instructions: readonly Instruction[],
  recentBlockhash: string,
  signer: Keypair | null = payer,
): Signed => signWith([payer], [signer], instructions, recentBlockhash);

/** The first signer pays. */
export const signAll = (
  signers: readonly Keypair[],
  instructions: readonly Instruction[],
  recentBlockhash: string,
): Signed => signWith(signers, signers, instructions, recentBlockhash);

/** Of version 0, without lookups. */
export const signVersioned = (
  payer: Keypair,
  instructions: readonly Instruction[],
  recentBlockhash: string,
): Signed => signWith([payer], [payer], instructions, recentBlockhash, 0);

/** Of version 1 (SIMD-0385). */
export const signVersion1 = (
  payer: Keypair,
  instructions: readonly Instruction[],
  recentBlockhash: string,
  config: TransactionConfig,
): Signed => signWith([payer], [payer], instructions, recentBlockhash, 1, config);

function signWith(
  [payer]: readonly Keypair[],
  signers: readonly (Keypair | null)[],
  instructions: readonly Instruction[],
  recentBlockhash: string,
  version: MessageVersion = 'legacy',
  config?: TransactionConfig,
): Signed {
  if (payer === undefined) throw new RangeError('a transaction needs a payer');
  const blockhash = { recentBlockhash: recentBlockhash as Blockhash };
  const compiled = compileMessage({ feePayer: payer.address, instructions, ...blockhash });
  const message = encodeMessage({ ...compiled, version, ...(config && { config }) });
  const signatures = signers.map((signer) => signer?.sign(message) ?? new Uint8Array(64));
  const wire = encodeTransaction(signatures, message);
  return {
    signature: encodeBase58(signatures[0] ?? new Uint8Array()),
    wire,
    base64: Buffer.from(wire).toString('base64'),
    base58: encodeBase58(wire),
    message: Buffer.from(message).toString('base64'),
  };
}
