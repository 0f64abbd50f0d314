import type { OutgoingHttpHeaders } from 'node:http';
import type { LimitStatus, RateLimitState } from '../protocol/request-handler.ts';

type Format = (name: string, state: RateLimitState) => string;

const formatPolicy: Format = (name, { limit, windowSeconds }) => `"${name}";q=${limit};w=${windowSeconds}`;
const formatStatus: Format = (name, { remaining, resetSeconds }) =>
  `"${name}";r=${remaining};t=${resetSeconds}`;

function formatBoth(name: string, { rateLimit, quota = null }: LimitStatus, format: Format): string {
  if (rateLimit === null) return quota === null ? '' : format('credits', quota);
  const first = format(name, rateLimit);
  return quota === null ? first : `${first}, ${format('credits', quota)}`;
}

const hasLimits = ({ rateLimit, quota = null }: LimitStatus): boolean => rateLimit !== null || quota !== null;

/** Source: IETF draft ratelimit-headers-09. Policy names: `credits` for the quota, `name` for the rate limit. */
export const rateLimitHeaderValues = (name: string, limits: LimitStatus): [string, string] | null =>
  hasLimits(limits) ? [formatBoth(name, limits, formatPolicy), formatBoth(name, limits, formatStatus)] : null;

export function rateLimitHeaders(name: string, limits: LimitStatus): OutgoingHttpHeaders {
  const values = rateLimitHeaderValues(name, limits);
  return values === null ? {} : { 'ratelimit-policy': values[0], ratelimit: values[1] };
}
