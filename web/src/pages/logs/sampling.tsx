import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount, formatSpan } from '../../format.ts';

const HOUR_MS = 3_600_000;

/** What of all requests is here, and for how long. */
export function Sampling({
  sampling: { share, perSecond, keptHours },
}: {
  sampling: RouteOutput<'GET /customers/{customer}/logs'>['sampling'];
}) {
  const retention = formatSpan(keptHours * HOUR_MS);
  if (share >= 1) return <p className="muted">Every request is kept, for {retention}.</p>;
  return (
    <p className="muted">
      Of each second a gateway keeps {formatCount(perSecond)} requests and {Number((share * 100).toFixed(2))}{' '}
      % of what is beyond, besides what is slow or goes wrong, for {retention}. Counts of all requests are
      under Usage.
    </p>
  );
}
