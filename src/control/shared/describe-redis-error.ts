import { LimitStoreUnavailableError } from './limit-store.ts';

/** Why a server of Redis is away, in words that hold no secret and name the remedy. */
export function describeRedisError(error: unknown): string {
  const { code, message = '' } = ((error instanceof LimitStoreUnavailableError ? error.cause : error) ??
    {}) as {
    code?: string;
    message?: string;
  };
  if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(message))
    return 'it does not take user and password: correct shared.redis_url';
  if (/timed out/i.test(message)) return 'it does not answer in time';
  if (code === 'ECONNREFUSED') return 'nothing listens there: check that it runs, and shared.redis_url';
  if (code === 'ENOTFOUND') return 'its host is unknown: correct shared.redis_url';
  return 'it is not connected: check that it runs, and shared.redis_url';
}
