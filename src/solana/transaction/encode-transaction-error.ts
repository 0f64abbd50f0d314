import { ByteWriter } from '../../base/bytes.ts';
import { instructionErrorVariants, transactionErrorVariants } from './error-variants.ts';
import type { InstructionError, TransactionError } from './transaction-error.ts';

/** Writes the number of a variant. @returns false for one that is not known. */
function writeVariant(writer: ByteWriter, variants: readonly string[], name: string): boolean {
  const variant = variants.indexOf(name);
  if (variant >= 0) writer.u32(variant);
  return variant >= 0;
}

function writeInstructionError(writer: ByteWriter, error: InstructionError): boolean {
  if (typeof error === 'string') return writeVariant(writer, instructionErrorVariants, error);
  writeVariant(writer, instructionErrorVariants, 'Custom');
  writer.u32(error.Custom);
  return true;
}

function writeTransactionError(writer: ByteWriter, error: TransactionError): boolean {
  if (typeof error === 'string') return writeVariant(writer, transactionErrorVariants, error);
  const [[name, content]] = Object.entries(error) as [[string, unknown]];
  writeVariant(writer, transactionErrorVariants, name);
  if ('InstructionError' in error) {
    const [index, inner] = error.InstructionError;
    writer.u8(index);
    return writeInstructionError(writer, inner);
  }
  writer.u8(typeof content === 'number' ? content : (content as { account_index: number }).account_index);
  return true;
}

/**
 * Writes a transaction's error as nodes store it: bincode, u32 variants. The reverse of `decodeTransactionError`.
 * @returns null for an error whose variant is not known here.
 */
export function encodeTransactionError(error: TransactionError): Uint8Array | null {
  const writer = new ByteWriter(16);
  return writeTransactionError(writer, error) ? writer.finish() : null;
}
