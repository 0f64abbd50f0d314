import type { Address } from '../address.ts';
import type { Message } from '../message/message.ts';
import { programs } from '../programs.ts';
import { type Lamports, lamports, U64_MAX } from '../units.ts';
import { computeBudgetOf } from './compute-budget.ts';

export const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

const PRECOMPILES: ReadonlySet<Address> = new Set<Address>([
  programs.ed25519,
  programs.secp256k1,
  programs.secp256r1,
]);

/** Signatures that the message pays for: its own and those that precompiles verify (their first byte). */
function countSignatures(message: Message): number {
  return message.instructions
    .filter(({ programIdIndex }) => PRECOMPILES.has(message.accountKeys[programIdIndex] as Address))
    .reduce((sum, { data }) => sum + (data[0] ?? 0), message.header.numRequiredSignatures);
}

/**
 * What a message pays: 5,000 lamports for each signature, and the price of its compute unit limit rounded up.
 * A message with faulty compute budget instructions never runs; it is given without a priority fee.
 * Source: agave fee `calculate_fee`, compute-budget `get_prioritization_fee`.
 */
export function feeOf(message: Message): Lamports {
  return lamports(BigInt(countSignatures(message)) * LAMPORTS_PER_SIGNATURE + priorityFeeOf(message));
}

/** The part of the fee above the signatures. */
export function priorityFeeOf(message: Message): Lamports {
  const budget = computeBudgetOf(message);
  if ('fault' in budget) return lamports(0);
  const microLamports = budget.unitPrice * BigInt(budget.unitLimit);
  const fee = (microLamports + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  return lamports(fee < U64_MAX ? fee : U64_MAX);
}
