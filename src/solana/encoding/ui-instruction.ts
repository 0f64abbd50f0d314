import type { WritableJson } from '../../base/json.ts';
import type { Address } from '../address.ts';
import { encodeBase58 } from '../base58.ts';
import type { CompiledInstruction } from '../message/message.ts';
import { parseInstruction } from '../parsed/parse-instruction.ts';
import type { InnerInstructions } from '../transaction/transaction-meta.ts';

/** Stack height of outer instructions (since Agave 3.0). */
export const TRANSACTION_LEVEL_STACK_HEIGHT = 1;

export function encodeRawInstruction(
  instruction: CompiledInstruction,
  stackHeight: number | null,
): WritableJson {
  return {
    accounts: [...instruction.accounts],
    data: encodeBase58(instruction.data),
    programIdIndex: instruction.programIdIndex,
    stackHeight,
  };
}

/** Uses the raw form if an index is out of range. Source: transaction-status/src/lib.rs, `parse_ui_instruction`. */
export function encodeParsedInstruction(
  instruction: CompiledInstruction,
  keys: readonly Address[],
  stackHeight: number | null,
): WritableJson {
  const programId = keys[instruction.programIdIndex];
  if (programId === undefined) return encodeRawInstruction(instruction, stackHeight);
  const parsed = parseInstruction(programId, instruction, keys, stackHeight);
  if (parsed !== null) return parsed;
  const accounts = Array.from(instruction.accounts, (index) => keys[index]);
  if (accounts.includes(undefined)) return encodeRawInstruction(instruction, stackHeight);
  return { accounts, data: encodeBase58(instruction.data), programId, stackHeight };
}

export function encodeInnerInstructions(
  innerInstructions: readonly InnerInstructions[],
  keys: readonly Address[] | null,
): WritableJson {
  return innerInstructions.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((instruction) =>
      keys === null
        ? encodeRawInstruction(instruction, instruction.stackHeight)
        : encodeParsedInstruction(instruction, keys, instruction.stackHeight),
    ),
  }));
}
