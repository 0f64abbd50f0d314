import { programs } from '../programs.ts';
import type { Transaction } from './transaction.ts';

/** A vote is signed by the validator and, optionally, by the vote authority. */
const SIGNATURES_MAX = 2;

/** Source: Agave runtime-transaction, `is_simple_vote_transaction_impl`. */
export function isSimpleVote({ signatures, message }: Transaction): boolean {
  const [only, ...others] = message.instructions;
  if (only === undefined || others.length > 0) return false;
  if (signatures.length > SIGNATURES_MAX || message.version !== 'legacy') return false;
  return message.accountKeys[only.programIdIndex] === programs.vote;
}
