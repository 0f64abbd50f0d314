import type { Peppers } from '../pepper.ts';
import { ServerKeys, WrapError } from '../semi-wallets/wrap.ts';

const PURPOSE = 'solway webhooks';

/** Where a webhook is called, and what its calls are signed with. Both are secrets. */
export type Webhook = Readonly<{ url: string; secret: string }>;

/** A webhook under a key of the server. */
export type SealedWebhook = Readonly<{ sealed: string; pepper_version: number }>;

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
