import type {
  ExecutedInstruction,
  ExecutedTransaction,
  TransactionTokenAccount,
} from '../../../src/decoding/transaction/executed-transaction.ts';
import { nftPrograms } from '../../../src/decoding/transaction/nft/nft-programs.ts';
import { type Address, addressFromBytes } from '../../../src/solana/address.ts';

export const someone = (seed: number): Address => addressFromBytes(new Uint8Array(32).fill(seed));

type Given = Readonly<{ program: Address; accounts?: readonly Address[]; data: Uint8Array }> &
  Partial<Pick<ExecutedInstruction, 'height' | 'caller' | 'outer' | 'parentProgram' | 'parsed'>>;

export function executedTransaction(
  given: readonly Given[],
  facts: Partial<Omit<ExecutedTransaction, 'instructions' | 'tokenAccounts'>> & {
    tokenAccounts?: readonly TransactionTokenAccount[];
  } = {},
): ExecutedTransaction {
  const { tokenAccounts = [], ...others } = facts;
  const instructions = given.map((one, index) => ({
    ...{ index, outer: index, height: 1, parentProgram: null, caller: null, accounts: [], parsed: null },
    ...one,
  }));
  return {
    ...{ blockTime: 1n, signatures: [], feePayer: someone(1), signers: [someone(1)], fee: 5000n },
    ...{ err: null, accountKeys: [], preBalances: [], postBalances: [], logs: [], decimals: new Map() },
    ...others,
    instructions,
    tokenAccounts: new Map(tokenAccounts.map((account) => [account.address, account])),
  };
}

export function actionsOf(transaction: ExecutedTransaction, index = 0) {
  const instruction = transaction.instructions.find((one) => one.index === index) as ExecutedInstruction;
  return nftPrograms.get(instruction.program)?.read(instruction, transaction) ?? null;
}

export function allActions(transaction: ExecutedTransaction) {
  return transaction.instructions.flatMap((one) =>
    (nftPrograms.get(one.program)?.read(one, transaction) ?? []).map((decoded) => ({
      ...decoded,
      at: one.index,
    })),
  );
}

export const holding = (
  address: Address,
  mint: Address,
  owner: Address | null,
  [before, after]: readonly [bigint, bigint],
  decimals = 0,
): TransactionTokenAccount => ({ address, mint, owner, decimals, before, after });
