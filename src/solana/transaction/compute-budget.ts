import { ByteReader, OutOfBytes } from '../../base/bytes.ts';
import type { Address } from '../address.ts';
import type { Message } from '../message/message.ts';
import type { TransactionConfig } from '../message/transaction-config.ts';
import { programs } from '../programs.ts';
import { type Lamports, lamports, U64_MAX } from '../units.ts';
import type { TransactionError } from './transaction-error.ts';

/** Source: agave compute-budget, `compute_budget_limits`. */
const UNIT_LIMIT_MAX = 1_400_000;
const UNITS_PER_INSTRUCTION = 200_000;
const UNITS_PER_BUILTIN_INSTRUCTION = 3_000;
const HEAP_MIN_BYTES = 32 * 1024;
const HEAP_MAX_BYTES = 256 * 1024;
const LOADED_ACCOUNTS_DATA_MAX_BYTES = 64 * 1024 * 1024;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

/** Programs with a low default cost. Stake, config and lookup table are BPF. Source: agave builtins-default-costs. */
const BUILTINS: ReadonlySet<Address> = new Set<Address>([
  programs.system,
  programs.vote,
  programs.computeBudget,
  programs.bpfUpgradeableLoader,
  programs.bpfLoader1,
  programs.bpfLoader2,
  programs.loaderV4,
  programs.secp256k1,
  programs.ed25519,
]);

type ComputeBudget = Readonly<{
  unitLimit: number;
  priorityFee: Lamports;
  loadedAccountsDataSizeLimit: number;
  heapBytes: number;
}>;

type Request = {
  unitLimit?: number;
  /** Micro-lamports per compute unit. */
  unitPrice?: bigint;
  loadedAccountsDataSizeLimit?: number;
  heap?: { bytes: number; instruction: number };
};

/**
 * Uses the requested values or the defaults. A version 1 message requests them in its configuration, and its compute
 * budget instructions have no effect. Source: agave compute-budget-instruction, runtime-transaction.
 * @returns the budget, or `fault`: the error with which Agave rejects the transaction.
 */
export function computeBudgetOf(message: Message): ComputeBudget | { fault: TransactionError } {
  return message.config === undefined ? budgetOfInstructions(message) : budgetOfConfig(message.config);
}

/** Values that are not set are 0, but for the heap. */
const budgetOfConfig = (config: TransactionConfig): ComputeBudget => ({
  unitLimit: Math.min(config.computeUnitLimit ?? 0, UNIT_LIMIT_MAX),
  priorityFee: lamports(config.priorityFee ?? 0n),
  loadedAccountsDataSizeLimit: Math.min(
    config.loadedAccountsDataSizeLimit ?? 0,
    LOADED_ACCOUNTS_DATA_MAX_BYTES,
  ),
  heapBytes: config.heapSize ?? HEAP_MIN_BYTES,
});

function budgetOfInstructions(message: Message): ComputeBudget | { fault: TransactionError } {
  const request: Request = {};
  for (const [index, { programIdIndex, data }] of message.instructions.entries()) {
    if (message.accountKeys[programIdIndex] !== programs.computeBudget) continue;
    const fault = addRequest(request, data, index);
    if (fault !== null) return { fault };
  }
  if (request.heap !== undefined && !isHeapAllowed(request.heap.bytes)) {
    return { fault: invalidData(request.heap.instruction) };
  }
  if (request.loadedAccountsDataSizeLimit === 0) return { fault: 'InvalidLoadedAccountsDataSizeLimit' };
  const unitLimit = Math.min(request.unitLimit ?? defaultUnitLimit(message), UNIT_LIMIT_MAX);
  return {
    unitLimit,
    priorityFee: priorityFeeFor(request.unitPrice ?? 0n, unitLimit),
    loadedAccountsDataSizeLimit: Math.min(
      request.loadedAccountsDataSizeLimit ?? LOADED_ACCOUNTS_DATA_MAX_BYTES,
      LOADED_ACCOUNTS_DATA_MAX_BYTES,
    ),
    heapBytes: request.heap?.bytes ?? HEAP_MIN_BYTES,
  };
}

function priorityFeeFor(unitPrice: bigint, unitLimit: number): Lamports {
  const microLamports = unitPrice * BigInt(unitLimit);
  const fee = (microLamports + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  return lamports(fee < U64_MAX ? fee : U64_MAX);
}

const invalidData = (index: number): TransactionError => ({
  InstructionError: [index, 'InvalidInstructionData'],
});

export const isHeapAllowed = (bytes: number): boolean =>
  bytes >= HEAP_MIN_BYTES && bytes <= HEAP_MAX_BYTES && bytes % 1024 === 0;

/** Keyed by the first byte of the data. Trailing data is ignored, as in Agave. */
const readRequest: Readonly<Record<number, (reader: ByteReader, instruction: number) => Request>> = {
  1: (reader, instruction) => ({ heap: { bytes: reader.u32(), instruction } }),
  2: (reader) => ({ unitLimit: reader.u32() }),
  3: (reader) => ({ unitPrice: reader.u64() }),
  4: (reader) => ({ loadedAccountsDataSizeLimit: reader.u32() }),
};

function addRequest(request: Request, data: Uint8Array, index: number): TransactionError | null {
  try {
    const reader = new ByteReader(data);
    const added = readRequest[reader.u8()]?.(reader, index);
    if (added === undefined) return invalidData(index);
    if (Object.keys(added).some((name) => name in request)) return { DuplicateInstruction: index };
    Object.assign(request, added);
    return null;
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    return invalidData(index);
  }
}

function defaultUnitLimit(message: Message): number {
  return message.instructions
    .map(({ programIdIndex }) => message.accountKeys[programIdIndex])
    .map((program) =>
      program !== undefined && BUILTINS.has(program) ? UNITS_PER_BUILTIN_INSTRUCTION : UNITS_PER_INSTRUCTION,
    )
    .reduce((sum, units) => sum + units, 0);
}

export const LAMPORTS_PER_SIGNATURE = 5_000n;

const PRECOMPILES: ReadonlySet<Address> = new Set<Address>([
  programs.ed25519,
  programs.secp256k1,
  programs.secp256r1,
]);

/** Counts the signatures to pay for: the message's own and those that precompiles verify. */
function countSignatures(message: Message): number {
  return message.instructions
    .filter(({ programIdIndex }) => PRECOMPILES.has(message.accountKeys[programIdIndex] as Address))
    .reduce((sum, { data }) => sum + (data[0] ?? 0), message.header.numRequiredSignatures);
}

/**
 * A message with invalid compute budget instructions pays no priority fee, because it is never executed. Source: agave
 * fee `calculate_fee`, compute-budget `get_prioritization_fee`.
 */
export function feeOf(message: Message): Lamports {
  return lamports(BigInt(countSignatures(message)) * LAMPORTS_PER_SIGNATURE + priorityFeeOf(message));
}

export function priorityFeeOf(message: Message): Lamports {
  const budget = computeBudgetOf(message);
  return 'fault' in budget ? lamports(0) : budget.priorityFee;
}
