import { Agent, type Dispatcher } from 'undici';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import { readLimited } from '../../base/read-limited.ts';
import { type ConnectOptions, checkedConnector, ForbiddenAddressError } from './checked-connect.ts';
import { ACCEPT, ACCEPT_ENCODING, decoded, documentIn, mayBeJson } from './document.ts';
import type { OffChainLimits } from './limits.ts';

export type ExchangeResult =
  | Readonly<{ kind: 'document'; bytes: Buffer }>
  | Readonly<{ kind: 'redirect'; location: string }>
  /** The host rejected the request or sent no JSON; a retry is pointless for a while. */
  | Readonly<{ kind: 'absent' }>
  /** The host timed out or reported a transient failure. */
  | Readonly<{ kind: 'failed' }>
  /** The exchange failed, perhaps because a reused connection was stale. */
  | Readonly<{ kind: 'broken' }>
  | Readonly<{ kind: 'forbidden' }>;

/** Headers of every request. Apart from the user agent, they reveal nothing about the service or its callers. */
const HEADERS = {
  accept: ACCEPT,
  'accept-encoding': ACCEPT_ENCODING,
  'user-agent': 'solway (off-chain metadata)',
} as const;

/** Maximum bytes of an unused body to read so that the connection can be reused. */
const UNUSED_BODY_MAX_BYTES = 16 * 1024;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Whether the status means overload, throttling or a temporary failure. */
const isTransient = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429 || status < 200;

const joinHeader = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

type HttpResponse = Dispatcher.ResponseData<null>;

export class HostClient {
  readonly #agent: Agent;
  readonly #limits: OffChainLimits;

  constructor(limits: OffChainLimits, connect: Omit<ConnectOptions, 'connectTimeoutMs'>) {
    this.#limits = limits;
    this.#agent = new Agent({
      connect: checkedConnector({ ...connect, connectTimeoutMs: limits.connectTimeoutMs }),
      connections: limits.perHostMax,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: Math.max(1, limits.idleTimeoutMs),
      keepAliveMaxTimeout: Math.max(1, limits.idleTimeoutMs),
      maxHeaderSize: limits.headersMaxBytes,
      headersTimeout: limits.tryTimeoutMs,
      bodyTimeout: limits.tryTimeoutMs,
    });
  }

  /** Never rejects. */
  async get(url: URL, signal: AbortSignal): Promise<ExchangeResult> {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(this.#limits.tryTimeoutMs)]);
    try {
      return await this.#exchange(url, ended);
    } catch (error) {
      if (error instanceof ForbiddenAddressError) return { kind: 'forbidden' };
      return { kind: ended.aborted ? 'failed' : 'broken' };
    }
  }

  async #exchange(url: URL, signal: AbortSignal): Promise<ExchangeResult> {
    const response = await unlessAborted(this.#request(url, signal), signal);
    // Without an error listener, an aborted body would crash the process.
    response.body.on('error', () => undefined);
    const { statusCode, headers } = response;
    if (statusCode === 200 && mayBeJson(joinHeader(headers['content-type']))) {
      const bytes = await this.#body(response);
      signal.throwIfAborted();
      if (bytes === null) return { kind: 'absent' };
      const { documentMaxBytes } = this.#limits;
      const plain = await decoded(bytes, joinHeader(response.headers['content-encoding']), documentMaxBytes);
      const document = plain === null ? null : documentIn(plain, this.#limits);
      return document === null ? { kind: 'absent' } : { kind: 'document', bytes: document };
    }
    await response.body.dump({ limit: UNUSED_BODY_MAX_BYTES, signal }).catch(() => undefined);
    const location = joinHeader(headers.location);
    if (REDIRECTS.has(statusCode) && location !== undefined) return { kind: 'redirect', location };
    return { kind: isTransient(statusCode) ? 'failed' : 'absent' };
  }

  #request({ origin, pathname, search }: URL, signal: AbortSignal): Promise<HttpResponse> {
    return this.#agent.request({ origin, path: pathname + search, method: 'GET', headers: HEADERS, signal });
  }

  /** null if the body is larger than the limit. */
  async #body({ body, headers }: HttpResponse): Promise<Buffer | null> {
    const { documentMaxBytes } = this.#limits;
    if (Number(joinHeader(headers['content-length']) ?? 0) > documentMaxBytes) {
      body.destroy();
      return null;
    }
    return readLimited(body, documentMaxBytes);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
