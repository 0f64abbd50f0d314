import type { LimitFacts, RateLimitState } from '../protocol/serve.ts';

/** One policy, and where the caller stands with it. */
const policyOf = (name: string, { limit, windowSeconds }: RateLimitState): string =>
  `"${name}";q=${limit};w=${windowSeconds}`;
const standingOf = (name: string, { remaining, resetSeconds }: RateLimitState): string =>
  `"${name}";r=${remaining};t=${resetSeconds}`;

/**
 * The fields RateLimit and RateLimit-Policy (IETF draft ratelimit-headers-09): what is left of the limits and
 * for how long it counts; of the quota as the policy `credits`.
 * @param name - of the limit on calls.
 */
export function limitFields(name: string, { rateLimit, quota = null }: LimitFacts): [string, string] | null {
  if (quota === null) {
    return rateLimit === null ? null : [policyOf(name, rateLimit), standingOf(name, rateLimit)];
  }
  const [policy, standing] = [policyOf('credits', quota), standingOf('credits', quota)];
  if (rateLimit === null) return [policy, standing];
  return [`${policyOf(name, rateLimit)}, ${policy}`, `${standingOf(name, rateLimit)}, ${standing}`];
}
