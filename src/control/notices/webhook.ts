import { createHmac, randomBytes } from 'node:crypto';

/** What sends webhooks, to addresses of the public internet alone. */
export interface WebhookSender {
  /** Why nothing can be sent there, to complete "the URL …"; null when it can. */
  refusal(url: string): string | null;
  /** Sends once, and follows nothing. Never rejects. */
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<PostResult>;
}

/** How sending ended: with a status, or without because the address is not a public one, or nobody answered. */
export type PostResult = Readonly<
  { kind: 'response'; status: number } | { kind: 'refused' } | { kind: 'failed' }
>;

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new signing secret. Source: Standard Webhooks, "Signing secrets". */
export const newSigningSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/**
 * The headers that let a receiver know who sent the body, and when: HMAC-SHA-256 over id, time and body. Source: Standard
 * Webhooks, "Signature scheme"; its libraries check it.
 * @param id - of the notice: the same at each try, so that receivers notice doubles.
 */
export function signedHeaders(
  secret: string,
  id: string,
  body: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  const timestamp = Math.floor(nowMs / 1_000);
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
}
