import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount } from '../../format.ts';

export function Sampling({
  sampling: { share, perSecond, keptHours },
}: {
  sampling: RouteOutput<'GET /customers/{customer}/logs'>['sampling'];
}) {
  const [count, unit] = keptHours % 24 === 0 ? [keptHours / 24, 'day'] : [keptHours, 'hour'];
  const retention = `${count} ${unit}${count === 1 ? '' : 's'}`;
  if (share >= 1) return <p className="muted">All requests are logged and retained for {retention}.</p>;
  return (
    <p className="muted">
      Sampled: each gateway logs up to {formatCount(perSecond)} requests per second,{' '}
      {Number((share * 100).toFixed(2))}% of the rest, and slow or failed requests up to a limit. Retained for{' '}
      {retention}. See Usage and quota for complete counts.
    </p>
  );
}
