import { Agent, type Dispatcher, request } from 'undici';
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

/** HTTP client of a storage service. */
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
    const { connectionsMax, connectTimeoutMs } = limits;
    this.#agent = new Agent({
      connections: connectionsMax,
      connect: { timeout: connectTimeoutMs },
      pipelining: 1,
    });
  }

  /** @throws Failure STORAGE_UNAVAILABLE without a complete response; any status is a response. */
  async request(method: 'GET' | 'POST', path: string, body?: ServiceBody | string): Promise<ServiceResponse> {
    const { exchangeMaxMs, silenceMs } = this.#limits;
    try {
      const response = await request(`${this.#url}${path}`, {
        ...{ method, ...toRequestBody(body) },
        headers: this.#headers(body),
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(exchangeMaxMs),
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
      });
      return { status: response.statusCode, text: await this.#read(response.body) };
    } catch (thrown) {
      throw storageUnavailable(`no response: ${codeOf(thrown)}`);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #headers(body: ServiceBody | string | undefined): Record<string, string> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (this.#authorization !== null) headers.authorization = this.#authorization;
    if (typeof body === 'string') headers['content-type'] = 'application/json';
    else if (body !== undefined) {
      headers['content-type'] = body.type;
      headers['content-length'] = String(body.bytes);
    }
    return headers;
  }

  async #read(body: Dispatcher.ResponseData['body']): Promise<string> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > this.#limits.answerMaxBytes) throw new Error('too large');
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString();
  }
}

const toRequestBody = (body: ServiceBody | string | undefined): Pick<Dispatcher.RequestOptions, 'body'> =>
  body === undefined ? {} : { body: (typeof body === 'string' ? body : body.chunks) as string };

/** Error code only: the message may contain the address and its credentials. */
function codeOf(thrown: unknown): string {
  const { code, name } = thrown as NodeJS.ErrnoException;
  return code ?? name;
}

/** @param what - our own text, without text of the service. */
export const storageUnavailable = (what: string): Failure =>
  new Failure('STORAGE_UNAVAILABLE', { cause: new Error(what) });
