import type { LimitStatus, RateLimitState } from '../protocol/request-handler.ts';

/** Takes the parts of a text in turn. */
export interface TextSink {
  text(part: string): void;
  number(value: number): void;
}

/** One policy, and where the caller stands with it. */
function writePolicy(to: TextSink, name: string, { limit, windowSeconds }: RateLimitState): void {
  to.text('"');
  to.text(name);
  to.text('";q=');
  to.number(limit);
  to.text(';w=');
  to.number(windowSeconds);
}

function writeStatus(to: TextSink, name: string, { remaining, resetSeconds }: RateLimitState): void {
  to.text('"');
  to.text(name);
  to.text('";r=');
  to.number(remaining);
  to.text(';t=');
  to.number(resetSeconds);
}

type Write = (to: TextSink, name: string, state: RateLimitState) => void;

function writeBoth(to: TextSink, name: string, { rateLimit, quota = null }: LimitStatus, write: Write): void {
  if (rateLimit !== null) write(to, name, rateLimit);
  if (rateLimit !== null && quota !== null) to.text(', ');
  if (quota !== null) write(to, 'credits', quota);
}

/** Whether anything is shown of limits. */
export const hasLimits = ({ rateLimit, quota = null }: LimitStatus): boolean =>
  rateLimit !== null || quota !== null;

/** The value of the field RateLimit-Policy. */
export const writePolicies = (to: TextSink, name: string, facts: LimitStatus): void =>
  writeBoth(to, name, facts, writePolicy);

/** The value of the field RateLimit. */
export const writeStatuses = (to: TextSink, name: string, facts: LimitStatus): void =>
  writeBoth(to, name, facts, writeStatus);

class TextJoiner implements TextSink {
  value = '';

  text(part: string): void {
    this.value += part;
  }

  number(value: number): void {
    this.value += value;
  }
}

function joinText(name: string, facts: LimitStatus, write: typeof writePolicies): string {
  const parts = new TextJoiner();
  write(parts, name, facts);
  return parts.value;
}

/**
 * The fields RateLimit-Policy and RateLimit (IETF draft ratelimit-headers-09): what is left of the limits and
 * for how long it counts; of the quota as the policy `credits`.
 * @param name - of the limit on calls.
 */
export function rateLimitHeaderValues(name: string, facts: LimitStatus): [string, string] | null {
  if (!hasLimits(facts)) return null;
  return [joinText(name, facts, writePolicies), joinText(name, facts, writeStatuses)];
}
