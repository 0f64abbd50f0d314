import type { QuotaJson } from '../../../../src/control/api/contract/usage.ts';
import { formatCount, formatDay, formatNumberOf, formatShare, formatShort } from '../../format.ts';

const MARKS = [0.8, 0.95, 1];

const SCALE_MAX = 1.5;

type Level = 'fine' | 'near' | 'over';
const levelOf = (share: number): Level => (share >= 1 ? 'over' : share >= 0.8 ? 'near' : 'fine');

export function QuotaMeter({ quota }: { quota: QuotaJson }) {
  const { planName, limit, used, isHard, periodTo } = quota;
  if (limit === null)
    return (
      <div className="quota">
        <p>
          Plan <strong>{planName}</strong>: {formatNumberOf(used, 'credit')} used this month (unlimited).
        </p>
      </div>
    );
  const share = limit === 0 ? 1 : used / limit;
  return (
    <div className="quota">
      <p className="row-apart">
        <strong>{planName}</strong>
        <span>
          {formatShare(share)} <span className="muted">used</span>
        </span>
      </p>
      <Bar
        share={share}
        projected={quota.projected === null ? null : quota.projected / limit}
        name={planName}
      />
      <p>
        {formatCount(used)} <span className="muted">of</span> {formatCount(limit)}{' '}
        <span className="muted">credits. Resets on {formatDay(periodTo)}</span>
      </p>
      <Forecast quota={quota} limit={limit} />
      <p className="muted">
        {isHard
          ? 'Requests over the quota are rejected.'
          : 'Requests over the quota are still served; notifications are sent.'}
      </p>
    </div>
  );
}

function Forecast({ quota: { projected, exhaustedAt }, limit }: { quota: QuotaJson; limit: number }) {
  if (projected === null) return <p className="muted">Not enough data for a forecast.</p>;
  if (exhaustedAt === null)
    return (
      <p className="muted">
        Projected this month: {formatShort(projected)} credits ({formatShare(projected / limit)} of quota).
      </p>
    );
  return (
    <p className="quota-warning">
      Projected to reach the quota on {formatDay(exhaustedAt)}; {formatShort(projected)} credits by the end of
      the month.
    </p>
  );
}

function Bar({ share, projected, name }: { share: number; projected: number | null; name: string }) {
  const top = Math.min(SCALE_MAX, Math.max(1, share, projected ?? 0));
  const x = (value: number): number => (Math.min(value, top) / top) * 100;
  return (
    <svg
      className={`quota-bar quota-${levelOf(share)}`}
      viewBox="0 0 100 14"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${name}: ${formatShare(share)} of quota used`}
    >
      <rect className="quota-room" x="0" y="3" width={x(1)} height="8" />
      {projected === null ? null : (
        <rect
          className="quota-projected"
          x={x(share)}
          y="3"
          width={Math.max(0, x(projected) - x(share))}
          height="8"
        />
      )}
      <rect className="quota-used" x="0" y="3" width={x(share)} height="8" />
      {MARKS.map((mark) => (
        <line key={mark} className="quota-mark" x1={x(mark)} x2={x(mark)} y1="0" y2="14" />
      ))}
    </svg>
  );
}
