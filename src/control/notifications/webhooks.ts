import { createHmac, randomBytes } from 'node:crypto';
import type { Peppers } from '../pepper.ts';
import { ServerKeys, WrapError } from '../semi-wallets/wrap.ts';

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
  { kind: 'answered'; status: number } | { kind: 'refused' } | { kind: 'failed' }
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

const PURPOSE = 'solway webhooks';

/** Where a webhook is called, and what its calls are signed with. Both are secrets. */
type Webhook = Readonly<{ url: string; secret: string }>;

/** A webhook under a key of the server. */
type SealedWebhook = Readonly<{ sealed: string; pepper_version: number }>;

/** Keeps webhooks so that who steals the database can neither call them nor sign in our name. */
export class WebhookSeal {
  readonly #keys: ServerKeys;

  constructor(peppers: Peppers) {
    this.#keys = new ServerKeys(peppers, PURPOSE);
  }

  /** Seals for this customer and target alone. */
  seal(webhook: Webhook, customerId: string, targetId: string): SealedWebhook {
    const { text, version } = this.#keys.wrap(JSON.stringify(webhook), customerId, targetId);
    return { sealed: text, pepper_version: version };
  }

  /** @returns null for what was sealed under a pepper that is not here, or is damaged. */
  open({ sealed, pepper_version }: SealedWebhook, customerId: string, targetId: string): Webhook | null {
    try {
      const text = this.#keys.unwrap({ text: sealed, version: pepper_version }, customerId, targetId);
      return JSON.parse(text) as Webhook;
    } catch (error) {
      if (error instanceof WrapError) return null;
      throw error;
    }
  }
}

const DISPLAYED_PATH_MAX = 16;

/** A URL as it may be shown: in path and query may stand what only its owner knows. */
export function displayUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const isShort = search === '' && pathname.length <= DISPLAYED_PATH_MAX;
  return isShort ? origin + pathname : `${origin}${pathname.slice(0, DISPLAYED_PATH_MAX)}…`;
}
