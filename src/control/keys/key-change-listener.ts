import type { Client } from 'pg';
import { CHANGE_CHANNEL } from '../database/change.ts';

/** A server that takes connections and drops them must not keep us connecting without pause. */
const CONNECT_INTERVAL_MS = 500;

/**
 * Hears of changes the moment they are committed (PostgreSQL's LISTEN), and of the server's end. Only a quicker
 * way: whoever misses a message finds the change at the next poll, so a broken connection is taken up again
 * without haste.
 */
export class KeyChangeListener {
  readonly #open: () => Client;
  readonly #onChange: () => void;
  #listening = false;
  #connectedAt = Number.NEGATIVE_INFINITY;
  #client: Client | null = null;
  #connecting: Promise<void> | null = null;
  #stopped = false;

  constructor(open: () => Client, onChange: () => void) {
    this.#open = open;
    this.#onChange = onChange;
  }

  /** Connects when not connected. Never rejects. */
  ensure(): Promise<void> {
    const now = performance.now();
    const soon = now - this.#connectedAt < CONNECT_INTERVAL_MS;
    if (this.#client !== null || this.#stopped || soon) return Promise.resolve();
    this.#connectedAt = now;
    this.#connecting = this.#connect();
    return this.#connecting;
  }

  async #connect(): Promise<void> {
    const client = this.#open();
    this.#client = client;
    client.on('notification', this.#onChange);
    client.on('error', () => this.#drop(client));
    client.on('end', () => this.#drop(client));
    try {
      await client.connect();
      await client.query(`listen ${CHANGE_CHANNEL}`);
      this.#listening = true;
      // What was committed before the LISTEN took effect was not announced to us.
      this.#onChange();
    } catch {
      this.#drop(client);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    // pg cannot end a connection that is being made; it waits for its own timeout then.
    await this.#connecting;
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => undefined);
  }

  #drop(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.end().catch(() => undefined);
    const wasListening = this.#listening;
    this.#listening = false;
    // The server is most likely gone: whoever looks now learns it at once instead of at the next look.
    if (wasListening) this.#onChange();
  }
}
