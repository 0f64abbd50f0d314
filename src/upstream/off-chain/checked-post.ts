import { Agent } from 'undici';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import { AddressRules } from './address-rules.ts';
import {
  checkedConnector,
  createHostResolver,
  ForbiddenAddressError,
  literalAddresses,
  type ResolveHost,
} from './checked-connect.ts';
import { webUrl } from './target.ts';

export const postLimits = {
  connectTimeoutMs: 3_000,
  /** Per DNS query attempt; each query is tried at most twice. */
  resolveTimeoutMs: 2_000,
  /** In characters. */
  urlMaxLength: 2_048,
};

export type PostLimits = Readonly<typeof postLimits>;

export type PostRules = Readonly<{ allowedNetworks: readonly string[]; ports: readonly number[] }>;

export type PostResult = Readonly<
  { kind: 'response'; status: number } | { kind: 'forbidden' } | { kind: 'failed' }
>;

const ANSWER_MAX_BYTES = 16 * 1024;
const HEADERS_MAX_BYTES = 16 * 1024;

/**
 * Posts to untrusted URLs. Resolves the host name once, connects only to checked addresses, does not follow
 * redirects, and uses only the status of the response.
 */
export class CheckedPost {
  readonly #agent: Agent;
  readonly #rules: PostRules;
  readonly #addresses: AddressRules;
  readonly #limits: PostLimits;

  /** @throws RangeError for an invalid network. */
  constructor(rules: PostRules, limits: PostLimits = postLimits, resolve?: ResolveHost) {
    this.#rules = rules;
    this.#addresses = new AddressRules(rules.allowedNetworks);
    this.#limits = limits;
    this.#agent = new Agent({
      connect: checkedConnector({
        resolve: resolve ?? createHostResolver(limits.resolveTimeoutMs),
        rules: this.#addresses,
        connectTimeoutMs: limits.connectTimeoutMs,
      }),
      pipelining: 1,
      allowH2: false,
      // Posts are rare, so reused connections would mostly be stale.
      keepAliveTimeout: 1,
      maxHeaderSize: HEADERS_MAX_BYTES,
    });
  }

  /** Reason why the URL is not allowed, worded to follow "the URL"; null if it is allowed. */
  rejectionReason(text: string): string | null {
    if (text.length > this.#limits.urlMaxLength)
      return `must have at most ${this.#limits.urlMaxLength} characters`;
    const url = webUrl(text, this.#rules.ports);
    const ports = this.#rules.ports.join(' or ');
    if (url === null) return `must use http or https on port ${ports}, without a user name or password`;
    const isAllowed = literalAddresses(url.hostname).every((address) => this.#addresses.allows(address));
    return isAllowed ? null : 'must have a publicly reachable host, not a private or loopback address';
  }

  /** Sends the request once. Never rejects. */
  async post(
    text: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<PostResult> {
    const url = webUrl(text, this.#rules.ports);
    if (url === null) return { kind: 'forbidden' };
    try {
      return {
        kind: 'response',
        status: await unlessAborted(this.#send(url, headers, body, signal), signal),
      };
    } catch (error) {
      return { kind: error instanceof ForbiddenAddressError ? 'forbidden' : 'failed' };
    }
  }

  async #send(
    { origin, pathname, search }: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<number> {
    const response = await this.#agent.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: { ...headers, 'user-agent': 'solway (notices)' },
      body,
      signal,
    });
    // Without an error listener, an aborted body would crash the process.
    response.body.on('error', () => undefined);
    await response.body.dump({ limit: ANSWER_MAX_BYTES, signal }).catch(() => undefined);
    return response.statusCode;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
