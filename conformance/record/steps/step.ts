import type { PublicKey, TransactionInstruction } from '@solana/web3.js';

/** What a step may need to know of the ledger it runs on. */
export type StepContext = Readonly<{
  /** A finalized slot of the last 150. */
  recentSlot: number;
  /** Address of a lookup table that an earlier step created. */
  table: (name: string) => PublicKey;
  /** Call by the step that creates a table. */
  setTable: (name: string, address: PublicKey) => void;
}>;

/** A transaction of the script, or an airdrop. */
export type Step = Readonly<{
  name: string;
  /** Names of actors; the first one pays. */
  signers: readonly string[];
  instructions: (context: StepContext) => readonly TransactionInstruction[];
  /** Default legacy. */
  version?: 'legacy' | 0 | 1;
  /** Loads the accounts that this lookup table holds from it. */
  lookup?: string;
  /** Uses the value of this nonce account as blockhash. */
  nonce?: string;
  /** The transaction lands in a block with an error. */
  fails?: true;
  airdrop?: Readonly<{ to: string; lamports: number }>;
}>;

type StepOptions = Omit<Step, 'name' | 'signers' | 'instructions'>;

/** @param signers - separated by blanks. */
export const step = (
  name: string,
  signers: string,
  instructions: readonly TransactionInstruction[] | Step['instructions'],
  options: StepOptions = {},
): Step => ({
  name,
  signers: signers.split(' '),
  instructions: typeof instructions === 'function' ? instructions : () => instructions,
  ...options,
});

export const SOL = 1_000_000_000;

/** Rent-exempt minimum in lamports. */
export const rent = (bytes: number): number => (128 + bytes) * 6_960;
