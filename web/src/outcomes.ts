import type { UsageStatus } from '../../src/gateway/metering/usage-meter.ts';
import type { Series } from './charts/series.ts';
import type { Tone } from './ui/chip.tsx';

/** How a request ended, in words. */
export type Outcome = Readonly<{
  label: string;
  /** One sentence: what it means, and for whom. */
  about: string;
  color: `--status-${UsageStatus}`;
  tone: Tone;
}>;

/** In the order in which charts stack them: what went well at the bottom. */
export const outcomes: Readonly<Record<UsageStatus, Outcome>> = {
  ok: { label: 'OK', about: 'It gave a result.', color: '--status-ok', tone: 'good' },
  rpcError: {
    label: 'RPC error',
    about: 'The node answered with a JSON-RPC error, such as for a wrong parameter.',
    color: '--status-rpcError',
    tone: 'warn',
  },
  limited: {
    label: 'Limited',
    about: 'Refused because a rate limit or the quota was reached. It costs nothing.',
    color: '--status-limited',
    tone: 'warn',
  },
  client: {
    label: 'Client error',
    about:
      'Refused as it was sent: without a key or with a wrong one, not readable, a method that is not there, not allowed for the key.',
    color: '--status-client',
    tone: 'warn',
  },
  capacity: {
    label: 'Over capacity',
    about: 'The service was full. Asking again a little later helps.',
    color: '--status-capacity',
    tone: 'bad',
  },
  upstream: {
    label: 'Upstream fault',
    about: 'The nodes behind the service did not answer, or not in time.',
    color: '--status-upstream',
    tone: 'bad',
  },
  gateway: { label: 'Gateway fault', about: 'A fault of ours.', color: '--status-gateway', tone: 'bad' },
};

export const outcomeNames = Object.keys(outcomes) as readonly UsageStatus[];

/** Requests per step and outcome as series, from the bottom up; outcomes that never were are left out. */
export const outcomeSeries = (
  byStatus: Readonly<Partial<Record<UsageStatus, readonly number[]>>>,
): readonly Series[] =>
  outcomeNames.flatMap((id) => {
    const values = byStatus[id];
    if (values === undefined || values.every((value) => value === 0)) return [];
    const { label, color } = outcomes[id];
    return [{ id, label, color, values }];
  });
