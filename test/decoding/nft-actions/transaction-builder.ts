import { ByteWriter } from '../../../src/base/bytes.ts';
import { instructionDiscriminator } from '../../../src/decoding/transaction/events/layout.ts';
import type {
  ExecutedInstruction,
  ExecutedTransaction,
  TransactionTokenAccount,
} from '../../../src/decoding/transaction/executed-transaction.ts';
import { nftPrograms } from '../../../src/decoding/transaction/nft/nft-programs.ts';
import { type Address, addressFromBytes } from '../../../src/solana/address.ts';

/** Transactions made by hand, to layouts of programs' interfaces. */

/** An address that is nobody's. */
export const someone = (seed: number): Address => addressFromBytes(new Uint8Array(32).fill(seed));

/**
 * Accounts in the order of an interface, each with an address of its own.
 * @param names - as the interface lists them, with blanks between; a name with `!` stands as the program itself, for
 * an account that is left out.
 * @param first - seed of the first address, for lists that share none.
 */
export function accountsOf(
  names: string,
  program: Address,
  first = 100,
): { accounts: Address[]; at: Record<string, Address> } {
  const at: Record<string, Address> = {};
  const accounts = names.split(' ').map((name, index) => {
    const account = name.endsWith('!') ? program : someone(first + index);
    at[name.replace('!', '')] = account;
    return account;
  });
  return { accounts, at };
}

/** Data of an Anchor instruction. */
export function anchorData(name: string, write: (args: ByteWriter) => unknown = () => 0): Uint8Array {
  const writer = new ByteWriter();
  writer.bytes(Buffer.from(instructionDiscriminator(name), 'hex'));
  write(writer);
  return writer.finish();
}

type Given = Readonly<{ program: Address; accounts?: readonly Address[]; data: Uint8Array }> &
  Partial<Pick<ExecutedInstruction, 'height' | 'caller' | 'outer' | 'parentProgram' | 'parsed'>>;

/** A transaction of these instructions; each is an outer one unless it says otherwise. */
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
    ...{ slot: 1n, blockTime: 1n, signatures: [], feePayer: someone(1), signers: [someone(1)], fee: 5000n },
    ...{ err: null, accountKeys: [], preBalances: [], postBalances: [], logs: [], decimals: new Map() },
    ...others,
    instructions,
    tokenAccounts: new Map(tokenAccounts.map((account) => [account.address, account])),
  };
}

/** What is told of one instruction; null where it is UNKNOWN. */
export function actionsOf(transaction: ExecutedTransaction, index = 0) {
  const instruction = transaction.instructions.find((one) => one.index === index) as ExecutedInstruction;
  return nftPrograms.get(instruction.program)?.read(instruction, transaction) ?? null;
}

/** All that is told, with the number of its instruction. */
export function allActions(transaction: ExecutedTransaction) {
  return transaction.instructions.flatMap((one) =>
    (nftPrograms.get(one.program)?.read(one, transaction) ?? []).map((told) => ({ ...told, at: one.index })),
  );
}

/** A token account that the transaction names. */
export const holding = (
  address: Address,
  mint: Address,
  owner: Address | null,
  [before, after]: readonly [bigint, bigint],
  decimals = 0,
): TransactionTokenAccount => ({ address, mint, owner, decimals, program: null, before, after });
