import type { UsageStatus } from '../../src/gateway/metering/usage-status.ts';
import type { Series } from './charts/series.ts';
import type { Tone } from './ui/chip.tsx';

export type Outcome = Readonly<{
  label: string;
  about: string;
  color: `--status-${UsageStatus}`;
  tone: Tone;
}>;

/** Stacking order, from the bottom up. */
export const outcomes: Readonly<Record<UsageStatus, Outcome>> = {
  ok: { label: 'OK', about: 'The request succeeded.', color: '--status-ok', tone: 'good' },
  rpcError: {
    label: 'RPC error',
    about: 'The node returned a JSON-RPC error, for example for invalid parameters.',
    color: '--status-rpcError',
    tone: 'warn',
  },
  limited: {
    label: 'Rate limited',
    about: 'Rejected because a rate limit or quota was reached. No credits are charged.',
    color: '--status-limited',
    tone: 'warn',
  },
  client: {
    label: 'Client error',
    about:
      'The request was invalid: missing or invalid API key, malformed body, unknown method, or method not allowed for the key.',
    color: '--status-client',
    tone: 'warn',
  },
  capacity: {
    label: 'Over capacity',
    about: 'The service was at capacity. Retry after a short delay.',
    color: '--status-capacity',
    tone: 'bad',
  },
  upstream: {
    label: 'Upstream error',
    about: 'The upstream nodes did not respond or timed out.',
    color: '--status-upstream',
    tone: 'bad',
  },
  gateway: {
    label: 'Gateway error',
    about: 'Internal error in the gateway.',
    color: '--status-gateway',
    tone: 'bad',
  },
};

export const outcomeNames = Object.keys(outcomes) as readonly UsageStatus[];

export const outcomeSeries = (
  byStatus: Readonly<Partial<Record<UsageStatus, readonly number[]>>>,
): readonly Series[] =>
  outcomeNames.flatMap((id) => {
    const values = byStatus[id];
    if (values === undefined || values.every((value) => value === 0)) return [];
    const { label, color } = outcomes[id];
    return [{ id, label, color, values }];
  });
