import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import type { Tone } from '../../ui/chip.tsx';

export type Submission = RouteOutput<'GET /customers/{customer}/transactions'>['items'][number];

/** Blockhash validity: 150 slots of 400 ms, plus a margin. */
const PENDING_MS = 90_000;

export const resultLabels: Readonly<Record<NonNullable<Submission['fate']>['name'], string>> = {
  confirmed: 'Confirmed',
  failed: 'Confirmed with an error',
  expired: 'Blockhash expired',
  unconfirmed: 'Time limit reached; not seen to land',
  shed: 'Too many tracked transactions',
};

export const landedAt = ({
  status,
  fate,
}: Submission): Readonly<{ slot: string | null; err: string | null }> =>
  status ?? fate ?? { slot: null, err: null };

export type TransactionStatus = Readonly<{
  label: string;
  tone: Tone;
  kind: 'landed' | 'failed' | 'pending' | 'lost' | 'rejected';
}>;

const failed: TransactionStatus = { label: 'failed on chain', tone: 'bad', kind: 'failed' };

export function transactionStatusOf(
  { outcome, status, fate, at }: Submission,
  now: number,
): TransactionStatus {
  if (status !== null) {
    return status.err === null ? { label: status.confirmation, tone: 'good', kind: 'landed' } : failed;
  }
  if (fate?.name === 'failed') return failed;
  if (fate?.name === 'confirmed') return { label: 'confirmed', tone: 'good', kind: 'landed' };
  if (fate?.name === 'expired') return { label: 'expired', tone: 'warn', kind: 'lost' };
  if (outcome !== 'accepted') return { label: 'rejected', tone: 'bad', kind: 'rejected' };
  if (now - at < PENDING_MS) return { label: 'pending', tone: 'neutral', kind: 'pending' };
  return { label: 'not landed', tone: 'warn', kind: 'lost' };
}
