import { createHmac, randomBytes } from 'node:crypto';
import { JsonSeal } from '../json-seal.ts';
import type { Peppers } from '../pepper.ts';

/** Sends webhooks only to public internet addresses and to allowed networks. */
export interface WebhookSender {
  /** Why the URL is not allowed, as the end of a sentence that starts with "the URL"; null if it is allowed. */
  rejectionReason(url: string): string | null;
  /** Sends one request without following redirects. Never rejects. */
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<PostResult>;
}

export type PostResult = Readonly<
  { kind: 'response'; status: number } | { kind: 'forbidden' } | { kind: 'failed' }
>;

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Source: Standard Webhooks, "Signing secrets". */
export const newSigningSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** Receivers deduplicate by `id`. Source: Standard Webhooks, "Signature scheme". */
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

/** Encrypts webhooks and binds them to their customer and target. */
export class WebhookSeal extends JsonSeal<Readonly<{ url: string; secret: string }>> {
  constructor(peppers: Peppers) {
    super(peppers, 'solway webhooks');
  }
}

const DISPLAYED_PATH_MAX = 16;

/** Shortens a URL for display, because its path and query may contain secrets. */
export function displayUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const isShort = search === '' && pathname.length <= DISPLAYED_PATH_MAX;
  return isShort ? origin + pathname : `${origin}${pathname.slice(0, DISPLAYED_PATH_MAX)}…`;
}
