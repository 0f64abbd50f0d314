import { expressionBuilder } from 'kysely';
import type { Schema } from '../database/schema.ts';

/** How long an expired key still counts as one that somebody may ask about. */
export const EXPIRED_RETENTION_MS = 30 * 24 * 3_600_000;

/**
 * The condition that a key is not spent: neither revoked nor expired for more than 30 days. Both are final, so a
 * spent key takes no room, needs no pepper and is not loaded.
 * @param now - Unix milliseconds.
 */
export function notExpired(now: number) {
  const key = expressionBuilder<Schema, 'api_key'>();
  return key.and([
    key('api_key.state', '!=', 'revoked'),
    key.or([
      key('api_key.expires_at', 'is', null),
      key('api_key.expires_at', '>', now - EXPIRED_RETENTION_MS),
    ]),
  ]);
}
