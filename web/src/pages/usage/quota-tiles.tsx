import type { QuotaJson } from '../../../../src/control/api/contract/usage.ts';
import {
  formatCount,
  formatDay,
  formatNumberOf,
  formatShare,
  formatShort,
  formatSpan,
} from '../../format.ts';
import { Tile } from '../../ui/tile.tsx';
import { useNow } from '../../ui/time.tsx';
import { QuotaBar } from './quota-bar.tsx';

export const QuotaTiles = ({ quotas }: { quotas: readonly QuotaJson[] }) => (
  <div className="stack">
    {quotas.map((quota) => (
      <section key={quota.planId} className="stack-tight" aria-label={`Plan ${quota.planName}`}>
        {quotas.length < 2 ? null : <h2>{quota.planName}</h2>}
        <QuotaRow quota={quota} />
      </section>
    ))}
  </div>
);

function QuotaRow({ quota }: { quota: QuotaJson }) {
  const now = useNow();
  const { limit, used, isHard, periodFrom, periodTo, planName } = quota;
  const last = periodTo - 1;
  return (
    <div className="tiles">
      <Tile label="Used this month" value={<Credits value={used} />} note={`${planName} plan`}>
        {limit === null ? null : <QuotaBar used={used} limit={limit} />}
      </Tile>
      <Tile
        label="Remaining"
        value={limit === null ? 'Unlimited' : <Credits value={Math.max(0, limit - used)} />}
        note={limit === null ? 'No monthly quota' : `of ${formatCount(limit)} · ${quotaTypeText(isHard)}`}
      />
      <Tile label="Projected" value={<Pace quota={quota} />} note={<PaceNote quota={quota} />} />
      <Tile
        label="Resets on"
        value={formatDay(periodTo)}
        note={`in ${formatSpan(Math.max(0, periodTo - now))} · current period: ${formatDay(periodFrom)} to ${formatDay(last)} UTC`}
      />
    </div>
  );
}

const quotaTypeText = (isHard: boolean): string => (isHard ? 'hard limit' : 'soft limit');

const Credits = ({ value }: { value: number }) => (
  <span title={formatNumberOf(value, 'credit')}>
    {formatShort(value)} <small>{value === 1 ? 'credit' : 'credits'}</small>
  </span>
);

const Pace = ({ quota: { projected } }: { quota: QuotaJson }) =>
  projected === null ? <>–</> : <Credits value={projected} />;

function PaceNote({ quota: { projected, exhaustedAt, limit, used } }: { quota: QuotaJson }) {
  if (limit !== null && used >= limit) return <span className="delta-bad">Quota reached</span>;
  if (projected === null) return <>Not enough data</>;
  if (exhaustedAt !== null)
    return <span className="delta-bad">Reaches quota on {formatDay(exhaustedAt)}</span>;
  return <>{limit === null ? 'By the end of the month' : `${formatShare(projected / limit)} of the quota`}</>;
}
