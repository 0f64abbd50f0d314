import type { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../../solana/address.ts';
import { readOrNull } from '../../../solana/codec.ts';
import type { ParsedAction, ReadInstruction } from '../action.ts';
import { byEachName } from '../by-each-name.ts';
import { DISCRIMINATOR_BYTES, instructionDiscriminator, leadingHex } from '../events/layout.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';

export type Call<Name extends string> = Readonly<{
  at: Readonly<Record<Name, Address>>;
  /** Instruction data after the discriminator. */
  args: ByteReader;
  instruction: ExecutedInstruction;
  transaction: ExecutedTransaction;
}>;

/** Returns an action, an empty list if the instruction is not shown, or null if it is invalid. */
type Reader<Name extends string> = (call: Call<Name>) => ParsedAction | readonly [] | null;

const isNone = (action: ParsedAction | readonly []): action is readonly [] => Array.isArray(action);

export type InstructionLayout = (
  args: ByteReader,
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
) => readonly ParsedAction[] | null;

/** @param positions - 0-based account positions. An instruction with too few accounts does not match. */
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

export const ignored: InstructionLayout = () => [];

/** Hides an instruction if another instruction reports its effect. */
export const unless =
  (
    isReportedElsewhere: (instruction: ExecutedInstruction, transaction: ExecutedTransaction) => boolean,
    otherwise: InstructionLayout,
  ): InstructionLayout =>
  (args, instruction, transaction) =>
    isReportedElsewhere(instruction, transaction) ? [] : otherwise(args, instruction, transaction);

/** Anchor passes the program address for an absent optional account. */
export const optionalAccount = (account: Address, { program }: ExecutedInstruction): Address | null =>
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

/** Maps space-separated instruction names to their layout. */
type Layouts = Readonly<Record<string, InstructionLayout>>;

export function anchorReader(layouts: Layouts): ReadInstruction {
  const byMark = byEachName(layouts, instructionDiscriminator);
  return (instruction, transaction) =>
    readWith(byMark.get(leadingHex(instruction.data)), DISCRIMINATOR_BYTES, instruction, transaction);
}

export function numberedReader(layouts: Layouts): ReadInstruction {
  const byNumber = byEachName(layouts, Number);
  return (instruction, transaction) =>
    readWith(byNumber.get(instruction.data[0] ?? -1), 1, instruction, transaction);
}

export const optional = <T>(args: ByteReader, read: (args: ByteReader) => T): T | null =>
  args.bool() ? read(args) : null;

/**
 * Checks whether a later instruction in the transaction executes the offer; if so, only the sale is shown.
 * @param sales - names of the instructions that execute an offer.
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
