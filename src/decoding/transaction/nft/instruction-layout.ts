import { type ByteReader, readOrNull } from '../../../base/bytes.ts';
import type { Address } from '../../../solana/address.ts';
import type { Action, ReadInstruction } from '../action.ts';
import { DISCRIMINATOR_BYTES, instructionDiscriminator, leadingHex } from '../events/layout.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';

/** What a reader says of an instruction: an action without its place. */
export type ParsedAction = Pick<Action, 'type' | 'info'>;

/** An instruction whose accounts have their names and whose discriminator was read. */
export type Call<Name extends string> = Readonly<{
  at: Readonly<Record<Name, Address>>;
  /** Behind the discriminator. */
  args: ByteReader;
  instruction: ExecutedInstruction;
  transaction: ExecutedTransaction;
}>;

/** One action, none where it is not worth telling, null for what is not as the program has it. */
type Reader<Name extends string> = (call: Call<Name>) => ParsedAction | readonly [] | null;

const isNone = (action: ParsedAction | readonly []): action is readonly [] => Array.isArray(action);

/** One instruction of a program's interface. */
export type InstructionLayout = (
  args: ByteReader,
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
) => readonly ParsedAction[] | null;

/**
 * An instruction by where its accounts stand.
 * @param positions - 0-based, of those that are read. One with fewer accounts is not this instruction.
 */
export function layout<const Name extends string>(
  positions: Readonly<Record<Name, number>>,
  read: Reader<Name>,
): InstructionLayout {
  const names = Object.entries(positions) as [Name, number][];
  return (args, instruction, transaction) => {
    const at: Partial<Record<Name, Address>> = {};
    for (const [name, position] of names) {
      const account = instruction.accounts[position];
      if (account === undefined) return null;
      at[name] = account;
    }
    const action = read({ at: at as Record<Name, Address>, args, instruction, transaction });
    return action === null || isNone(action) ? action : [action];
  };
}

/** An instruction that serves another, which tells what was done. */
export const ignored: InstructionLayout = () => [];

/** The same instruction, not told where another one of the transaction says what it led to. */
export const unless =
  (
    isReportedElsewhere: (instruction: ExecutedInstruction, transaction: ExecutedTransaction) => boolean,
    otherwise: InstructionLayout,
  ): InstructionLayout =>
  (args, instruction, transaction) =>
    isReportedElsewhere(instruction, transaction) ? [] : otherwise(args, instruction, transaction);

/** An account that an Anchor instruction has no use for stands as the program's own address. */
export const given = (account: Address, { program }: ExecutedInstruction): Address | null =>
  account === program ? null : account;

function readWith(
  found: InstructionLayout | undefined,
  markBytes: number,
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
): readonly ParsedAction[] | null {
  if (found === undefined || instruction.data.length < markBytes) return null;
  return readOrNull(instruction.data.subarray(markBytes), (args) => found(args, instruction, transaction));
}

/** Reads the instructions of an Anchor program, by their names in snake_case. */
export function anchorReader(layouts: Readonly<Record<string, InstructionLayout>>): ReadInstruction {
  const byMark = new Map(Object.entries(layouts).map(([name, one]) => [instructionDiscriminator(name), one]));
  return (instruction, transaction) =>
    readWith(byMark.get(leadingHex(instruction.data)), DISCRIMINATOR_BYTES, instruction, transaction);
}

/** Reads the instructions of a program that marks them with their number, one byte. */
export function numberedReader(layouts: Readonly<Record<number, InstructionLayout>>): ReadInstruction {
  const byNumber = new Map(Object.entries(layouts).map(([number, one]) => [Number(number), one]));
  return (instruction, transaction) =>
    readWith(byNumber.get(instruction.data[0] ?? -1), 1, instruction, transaction);
}

/** An optional value of Borsh. */
export const optional = <T>(args: ByteReader, read: (args: ByteReader) => T): T | null =>
  args.bool() ? read(args) : null;

/**
 * Whether the offer that an instruction makes is taken up in the same transaction: whoever buys at once bids and
 * executes the sale together, and the sale alone is what happened.
 * @param sales - names of the instructions that execute a sale.
 * @returns for the place of the offer's account among those of its instruction, the test of one instruction.
 */
export function fulfilledBy(
  sales: readonly string[],
): (offerAt: number) => (instruction: ExecutedInstruction, transaction: ExecutedTransaction) => boolean {
  const marks = new Set(sales.map(instructionDiscriminator));
  return (offerAt) =>
    ({ program, index, accounts }, { instructions }) => {
      const offer = accounts[offerAt];
      return (
        offer !== undefined &&
        instructions.some(
          (one) =>
            one.index > index &&
            one.program === program &&
            marks.has(leadingHex(one.data)) &&
            one.accounts.includes(offer),
        )
      );
    };
}
