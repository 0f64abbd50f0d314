import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount, formatSpan } from '../../format.ts';

const HOUR_MS = 3_600_000;

export function Sampling({
  sampling: { share, perSecond, keptHours },
}: {
  sampling: RouteOutput<'GET /customers/{customer}/logs'>['sampling'];
}) {
  const retention = formatSpan(keptHours * HOUR_MS);
  if (share >= 1) return <p className="muted">All requests are logged and retained for {retention}.</p>;
  return (
    <p className="muted">
      Sampled: each gateway logs {formatCount(perSecond)} requests per second,{' '}
      {Number((share * 100).toFixed(2))}% of the rest, and all slow or failed requests. Retained for{' '}
      {retention}. See Usage for complete counts.
    </p>
  );
}
