import type { LimitStatus, RateLimitState } from '../protocol/request-handler.ts';

/** Receives text in parts, so that the fast path can write without building strings. */
export interface TextSink {
  text(part: string): void;
  number(value: number): void;
}

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

export const hasLimits = ({ rateLimit, quota = null }: LimitStatus): boolean =>
  rateLimit !== null || quota !== null;

/** Writes the value of RateLimit-Policy. */
export const writePolicies = (to: TextSink, name: string, facts: LimitStatus): void =>
  writeBoth(to, name, facts, writePolicy);

/** Writes the value of RateLimit. */
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
 * Values of RateLimit-Policy and RateLimit (IETF draft ratelimit-headers-09); null without limits. The quota is the
 * policy `credits`.
 * @param name - policy name of the rate limit.
 */
export function rateLimitHeaderValues(name: string, facts: LimitStatus): [string, string] | null {
  if (!hasLimits(facts)) return null;
  return [joinText(name, facts, writePolicies), joinText(name, facts, writeStatuses)];
}
