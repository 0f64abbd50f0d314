import type { LimitFacts, RateLimitState } from '../protocol/serve.ts';

/** Takes the parts of a text in turn. */
export interface TextParts {
  text(part: string): void;
  number(value: number): void;
}

/** One policy, and where the caller stands with it. */
function writePolicy(to: TextParts, name: string, { limit, windowSeconds }: RateLimitState): void {
  to.text('"');
  to.text(name);
  to.text('";q=');
  to.number(limit);
  to.text(';w=');
  to.number(windowSeconds);
}

function writeStanding(to: TextParts, name: string, { remaining, resetSeconds }: RateLimitState): void {
  to.text('"');
  to.text(name);
  to.text('";r=');
  to.number(remaining);
  to.text(';t=');
  to.number(resetSeconds);
}

type Write = (to: TextParts, name: string, state: RateLimitState) => void;

function writeBoth(to: TextParts, name: string, { rateLimit, quota = null }: LimitFacts, write: Write): void {
  if (rateLimit !== null) write(to, name, rateLimit);
  if (rateLimit !== null && quota !== null) to.text(', ');
  if (quota !== null) write(to, 'credits', quota);
}

/** Whether anything is shown of limits. */
export const showsLimits = ({ rateLimit, quota = null }: LimitFacts): boolean =>
  rateLimit !== null || quota !== null;

/** The value of the field RateLimit-Policy. */
export const writePolicies = (to: TextParts, name: string, facts: LimitFacts): void =>
  writeBoth(to, name, facts, writePolicy);

/** The value of the field RateLimit. */
export const writeStandings = (to: TextParts, name: string, facts: LimitFacts): void =>
  writeBoth(to, name, facts, writeStanding);

class Joined implements TextParts {
  joined = '';

  text(part: string): void {
    this.joined += part;
  }

  number(value: number): void {
    this.joined += value;
  }
}

function joined(name: string, facts: LimitFacts, write: typeof writePolicies): string {
  const parts = new Joined();
  write(parts, name, facts);
  return parts.joined;
}

/**
 * The fields RateLimit-Policy and RateLimit (IETF draft ratelimit-headers-09): what is left of the limits and
 * for how long it counts; of the quota as the policy `credits`.
 * @param name - of the limit on calls.
 */
export function limitFields(name: string, facts: LimitFacts): [string, string] | null {
  if (!showsLimits(facts)) return null;
  return [joined(name, facts, writePolicies), joined(name, facts, writeStandings)];
}
