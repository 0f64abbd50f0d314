import type { ByteReader, ByteWriter } from '../../base/bytes.ts';

/** Compute budget of a version 1 message; null where none is requested. Source: SIMD-0385. */
export type TransactionConfig = Readonly<{
  /** Lamports. */
  priorityFee: bigint | null;
  computeUnitLimit: number | null;
  loadedAccountsDataSizeLimit: number | null;
  /** Bytes. */
  heapSize: number | null;
}>;

/** Bits of the mask that precedes the values; the u64 has two. */
const PRIORITY_FEE = 0b11;
const COMPUTE_UNIT_LIMIT = 0b100;
const LOADED_ACCOUNTS_DATA_SIZE_LIMIT = 0b1000;
const HEAP_SIZE = 0b1_0000;
const KNOWN_BITS = PRIORITY_FEE | COMPUTE_UNIT_LIMIT | LOADED_ACCOUNTS_DATA_SIZE_LIMIT | HEAP_SIZE;

export function isConfigMaskValid(mask: number): boolean {
  const fee = mask & PRIORITY_FEE;
  return (mask & ~KNOWN_BITS) === 0 && (fee === 0 || fee === PRIORITY_FEE);
}

export function configMaskOf(config: TransactionConfig): number {
  return (
    (config.priorityFee === null ? 0 : PRIORITY_FEE) |
    (config.computeUnitLimit === null ? 0 : COMPUTE_UNIT_LIMIT) |
    (config.loadedAccountsDataSizeLimit === null ? 0 : LOADED_ACCOUNTS_DATA_SIZE_LIMIT) |
    (config.heapSize === null ? 0 : HEAP_SIZE)
  );
}

/** Reads the values of a valid mask. @throws OutOfBytes */
export const readConfigValues = (reader: ByteReader, mask: number): TransactionConfig => ({
  priorityFee: mask & PRIORITY_FEE ? reader.u64() : null,
  computeUnitLimit: mask & COMPUTE_UNIT_LIMIT ? reader.u32() : null,
  loadedAccountsDataSizeLimit: mask & LOADED_ACCOUNTS_DATA_SIZE_LIMIT ? reader.u32() : null,
  heapSize: mask & HEAP_SIZE ? reader.u32() : null,
});

export function writeConfigValues(writer: ByteWriter, config: TransactionConfig): void {
  const { priorityFee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = config;
  if (priorityFee !== null) writer.u64(priorityFee);
  for (const value of [computeUnitLimit, loadedAccountsDataSizeLimit, heapSize]) {
    if (value !== null) writer.u32(value);
  }
}
