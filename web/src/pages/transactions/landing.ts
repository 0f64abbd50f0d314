import type { Answered } from '../../../../src/control/api/contract/contract.ts';
import type { Tone } from '../../ui/chip.tsx';

export type Submission = Answered<'GET /customers/{customer}/transactions'>['items'][number];

/** While a blockhash may still be valid a transaction may still land: 150 slots of 400 ms, and some room. */
const PENDING_MS = 90_000;

/** What became of a transaction, in words. */
export type Landing = Readonly<{
  word: string;
  tone: Tone;
  kind: 'landed' | 'failed' | 'pending' | 'lost' | 'refused';
}>;

/** What a transaction has come to, by what the node and the chain said. */
export function landingOf({ outcome, status, at }: Submission, now: number): Landing {
  if (status !== null && status.err !== null) return { word: 'failed on chain', tone: 'bad', kind: 'failed' };
  if (status !== null) return { word: status.confirmation, tone: 'good', kind: 'landed' };
  if (outcome !== 'accepted') return { word: 'refused', tone: 'bad', kind: 'refused' };
  if (now - at < PENDING_MS) return { word: 'not there yet', tone: 'neutral', kind: 'pending' };
  return { word: 'never landed', tone: 'warn', kind: 'lost' };
}
