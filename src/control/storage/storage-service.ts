import { Agent, request } from 'undici';
import { Failure } from '../../protocol/errors.ts';

export const storageServiceLimits = {
  connectTimeoutMs: 5_000,
  /** For one request, including a large file. */
  exchangeMaxMs: 10 * 60_000,
  /** Without response data after the request was sent. */
  silenceMs: 120_000,
  answerMaxBytes: 256 * 1024,
  /** Further requests wait. */
  connectionsMax: 16,
};

export type StorageServiceLimits = Readonly<typeof storageServiceLimits>;

/** `bytes` is the length; `chunks` is read once. */
export type ServiceBody = Readonly<{ type: string; bytes: number; chunks: AsyncIterable<Uint8Array> }>;

export type ServiceResponse = Readonly<{ status: number; text: string }>;

/** HTTP client of a storage service, whose responses are not shown to clients. */
export class StorageService {
  readonly #url: string;
  readonly #authorization: string | null;
  readonly #limits: StorageServiceLimits;
  readonly #agent: Agent;

  /** @param authorization - header value; never logged and never in an error. */
  constructor(url: string, authorization: string | null, limits: StorageServiceLimits) {
    this.#url = url.replace(/\/+$/, '');
    this.#authorization = authorization;
    this.#limits = limits;
    this.#agent = new Agent({
      connections: limits.connectionsMax,
      connect: { timeout: limits.connectTimeoutMs },
      maxResponseSize: limits.answerMaxBytes,
      pipelining: 1,
    });
  }

  /** @throws Failure STORAGE_UNAVAILABLE without a complete response; any status is a response. */
  async request(method: 'GET' | 'POST', path: string, body?: ServiceBody | string): Promise<ServiceResponse> {
    const { exchangeMaxMs, silenceMs } = this.#limits;
    const headers = contentHeaders(body);
    if (this.#authorization !== null) headers.authorization = this.#authorization;
    try {
      const response = await request(`${this.#url}${path}`, {
        method,
        headers: { accept: 'application/json', ...headers },
        // undici reads iterables, too.
        body: (typeof body === 'object' ? body.chunks : (body ?? null)) as string | null,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(exchangeMaxMs),
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
      });
      return { status: response.statusCode, text: await response.body.text() };
    } catch (thrown) {
      throw storageUnavailable(`no response: ${codeOf(thrown)}`);
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function contentHeaders(body: ServiceBody | string | undefined): Record<string, string> {
  if (body === undefined) return {};
  if (typeof body === 'string') return { 'content-type': 'application/json' };
  return { 'content-type': body.type, 'content-length': String(body.bytes) };
}

/** Error code only: the message may contain the address and its credentials. */
function codeOf(thrown: unknown): string {
  const { code, name } = thrown as NodeJS.ErrnoException;
  return code ?? name;
}

/** @param what - our own text, without text of the service. */
export const storageUnavailable = (what: string): Failure =>
  new Failure('STORAGE_UNAVAILABLE', { cause: new Error(what) });
