import {
  appendTransactionMessageInstruction,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  type Address as KitAddress,
  type Blockhash as KitBlockhash,
  type SignatureBytes,
  setTransactionMessageConfig,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import type { TransactionInstruction } from '@solana/web3.js';
import { type Address, addressBytes } from '../../src/solana/address.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import type { Blockhash } from '../../src/solana/blockhash.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import { encodeMessage, type Message } from '../../src/solana/message/message.ts';
import { compileMessage, type Instruction } from '../../src/solana/transaction/compile-message.ts';
import { encodeTransaction } from '../../src/solana/transaction/encode-transaction.ts';
import { actor } from './actors.ts';

/** A signed transaction. */
export type SignedStep = Readonly<{ signature: string; wire: Uint8Array; message: Uint8Array }>;

export type Unsigned = Readonly<{
  /** Names of actors; the first one pays. */
  signers: readonly string[];
  instructions: readonly TransactionInstruction[];
  blockhash: string;
  version: 'legacy' | 0 | 1;
  lookup?: LoadedTable | undefined;
}>;

export type LoadedTable = Readonly<{ address: string; addresses: readonly string[] }>;

const keypairOf = (name: string): Keypair => Keypair.fromSecretKey(actor(name).secretKey);

const ownInstruction = ({ programId, keys, data }: TransactionInstruction): Instruction => ({
  programId: programId.toBase58() as Address,
  accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
    ...{ address: pubkey.toBase58() as Address, signer: isSigner, writable: isWritable },
  })),
  data,
});

/** Moves unsigned keys that `table` holds and that no instruction calls from the message to a lookup. */
function withLookup(message: Message, table: LoadedTable): Message {
  const { header, accountKeys, instructions } = message;
  const called = new Set(instructions.map(({ programIdIndex }) => programIdIndex));
  const isLoaded = (key: Address, index: number): boolean =>
    index >= header.numRequiredSignatures && !called.has(index) && table.addresses.includes(key);
  const firstReadonly = accountKeys.length - header.numReadonlyUnsignedAccounts;
  const loaded = [...accountKeys.entries()].filter(([index, key]) => isLoaded(key, index));
  const isWritable = ([index]: readonly [number, Address]): boolean => index < firstReadonly;
  const writable = loaded.filter(isWritable);
  const readonly = loaded.filter((entry) => !isWritable(entry));
  const held = accountKeys.filter((key, index) => !isLoaded(key, index));
  const order = [...held, ...[...writable, ...readonly].map(([, key]) => key)];
  const moved = accountKeys.map((key) => order.indexOf(key));
  const indexes = (entries: readonly (readonly [number, Address])[]): Uint8Array =>
    Uint8Array.from(entries, ([, key]) => table.addresses.indexOf(key));
  return {
    ...{ ...message, accountKeys: held },
    header: {
      ...header,
      numReadonlyUnsignedAccounts: header.numReadonlyUnsignedAccounts - readonly.length,
    },
    instructions: instructions.map(({ programIdIndex, accounts, data }) => ({
      ...{ programIdIndex: moved[programIdIndex] ?? 0, data },
      accounts: accounts.map((index) => moved[index] ?? 0),
    })),
    addressTableLookups: [
      {
        accountKey: table.address as Address,
        ...{ writableIndexes: indexes(writable), readonlyIndexes: indexes(readonly) },
      },
    ],
  };
}

/** Version 1 (SIMD-0385) has its limits in the message instead of in instructions. */
const V1_LIMITS = { computeUnitLimit: 20_000, loadedAccountsDataSizeLimit: 1_000_000 };

function signVersion1({ signers, instructions, blockhash }: Unsigned): SignedStep {
  const payer = actor(signers[0] ?? '').publicKey.toBase58() as KitAddress;
  const empty = setTransactionMessageLifetimeUsingBlockhash(
    { blockhash: blockhash as KitBlockhash, lastValidBlockHeight: 0n },
    setTransactionMessageFeePayer(
      payer,
      setTransactionMessageConfig(V1_LIMITS, createTransactionMessage({ version: 1 })),
    ),
  );
  const message = instructions.reduce(
    (made, { programId, keys, data }) =>
      appendTransactionMessageInstruction(
        {
          programAddress: programId.toBase58() as KitAddress,
          accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
            ...{ address: pubkey.toBase58() as KitAddress },
            role: (isSigner ? 2 : 0) + (isWritable ? 1 : 0),
          })),
          data,
        },
        made,
      ) as unknown as typeof made,
    empty,
  );
  const compiled = compileTransaction(message);
  const bytes = new Uint8Array(compiled.messageBytes);
  const made = signers.map((name) => {
    const keypair = keypairOf(name);
    return [keypair.address, keypair.sign(bytes) as SignatureBytes] as const;
  });
  const wire = getTransactionEncoder().encode({ ...compiled, signatures: Object.fromEntries(made) });
  return {
    signature: encodeBase58(made[0]?.[1] ?? new Uint8Array()),
    wire: new Uint8Array(wire),
    message: bytes,
  };
}

/** Compiles and signs. Keys are in the order of their first mention, so that random addresses do not change it. */
export function signStep(step: Unsigned): SignedStep {
  if (step.version === 1) return signVersion1(step);
  const { signers, instructions, blockhash, version, lookup } = step;
  const feePayer = actor(signers[0] ?? '').publicKey.toBase58() as Address;
  const recentBlockhash = blockhash as Blockhash;
  const compiled = compileMessage({
    ...{ feePayer, recentBlockhash, instructions: instructions.map(ownInstruction) },
  });
  const versioned: Message = { ...compiled, version };
  const message = encodeMessage(lookup === undefined ? versioned : withLookup(versioned, lookup));
  const keypairs = new Map(signers.map((name) => [keypairOf(name).address, keypairOf(name)]));
  const signatures = compiled.accountKeys
    .slice(0, compiled.header.numRequiredSignatures)
    .map((key) => keypairs.get(key)?.sign(message) ?? new Uint8Array(64));
  const signature = encodeBase58(signatures[0] ?? new Uint8Array(64));
  return { signature, wire: encodeTransaction(signatures, message), message };
}

export const bytesOf = (address: string): Uint8Array => addressBytes(address as Address);
