import { fetch } from 'undici';
import type { Logger } from '../../base/log.ts';
import { readLimited } from '../../base/read-limited.ts';
import type { VerificationKey, VerificationKeys } from './jwt.ts';
import { verificationKeyOf } from './jwt.ts';

const REFRESH_MS = 300_000;
/** Minimum time between two requests, however many tokens name an unknown key. */
const RETRY_MS = 30_000;
const TIMEOUT_MS = 5_000;
const DOCUMENT_MAX_BYTES = 256 * 1024;
const KEYS_MAX = 64;

/** Keys of an issuer, read in the background. While the issuer is unreachable, the last keys stay valid. */
export class JwksClient implements VerificationKeys {
  keys: readonly VerificationKey[] = [];
  readonly #url: string;
  readonly #log: Logger;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;
  #isFailing = false;

  /** @param now - monotonic milliseconds. */
  constructor(url: string, log: Logger, now: () => number = () => performance.now()) {
    this.#url = url;
    this.#log = log;
    this.#now = now;
  }

  /** Reads the keys once; then in the background. */
  async start(): Promise<void> {
    this.#timer ??= setInterval(() => this.#refresh(REFRESH_MS), RETRY_MS).unref();
    await this.#read();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  onUnknownKey(): void {
    this.#refresh(RETRY_MS);
  }

  #refresh(intervalMs: number): void {
    const age = this.#now() - this.#readAt;
    if (age >= (this.#isFailing ? RETRY_MS : intervalMs)) void this.#read();
  }

  /** Never rejects. */
  #read(): Promise<void> {
    this.#readAt = this.#now();
    this.#reading ??= this.#fetch()
      .then(
        (keys) => {
          this.keys = keys;
          if (this.#isFailing) this.#log.info('JWKS fetch recovered');
          this.#isFailing = false;
        },
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : 'unknown';
          if (!this.#isFailing) this.#log.warn({ reason }, 'Failed to fetch JWKS; keeping the previous keys');
          this.#isFailing = true;
        },
      )
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  async #fetch(): Promise<readonly VerificationKey[]> {
    const response = await fetch(this.#url, {
      redirect: 'error',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const document = await readLimited(response.body, DOCUMENT_MAX_BYTES);
    if (document === null) throw new Error('JWKS exceeds 256 KiB');
    const { keys } = JSON.parse(document.toString()) as { keys?: unknown };
    if (!Array.isArray(keys)) throw new Error('JWKS has no `keys` array');
    const usable = keys
      .slice(0, KEYS_MAX)
      .map(verificationKeyOf)
      .filter((key) => key !== null);
    if (usable.length === 0) throw new Error('JWKS has no RS256, ES256 or EdDSA key');
    return usable;
  }
}
