import { Agent, type Dispatcher, request } from 'undici';
import { Failure } from '../../protocol/errors.ts';

/** What bounds exchanges with a service that stores files. */
export type StorageServiceLimits = Readonly<{
  /** Time to connect. */
  connectTimeoutMs: number;
  /** Time for one exchange, a large file included. */
  exchangeMaxMs: number;
  /** Time in which nothing comes back once all was sent. */
  silenceMs: number;
  /** Bytes of an answer. */
  answerMaxBytes: number;
  /** Connections at a time; exchanges beyond them wait. */
  connectionsMax: number;
}>;

/** What holds unless something else is set. */
export const storageServiceLimits: StorageServiceLimits = {
  connectTimeoutMs: 5_000,
  exchangeMaxMs: 10 * 60_000,
  silenceMs: 120_000,
  answerMaxBytes: 256 * 1024,
  connectionsMax: 16,
};

/** What is sent: its media type, how many bytes it has, and the bytes, which are read once. */
export type ServiceBody = Readonly<{ type: string; bytes: number; chunks: AsyncIterable<Uint8Array> }>;

/** A whole answer, of any status. */
export type ServiceResponse = Readonly<{ status: number; text: string }>;

/** One HTTP service that stores files, and what it is asked. What it says goes no further than this folder. */
export class StorageService {
  readonly #url: string;
  readonly #authorization: string | null;
  readonly #limits: StorageServiceLimits;
  readonly #agent: Agent;

  /**
   * @param url - the address before the paths of its interface.
   * @param authorization - the header of that name; never logged, never in an error.
   */
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

  /** @throws Failure STORAGE_UNAVAILABLE when no whole answer comes; an answer of any status is one. */
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
      throw storageUnavailable(`no answer: ${codeOf(thrown)}`);
    }
  }

  /** Breaks off what is asked, and closes the connections. */
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

/** The kind of an error: its message may hold the address, and so what the address holds. */
function codeOf(thrown: unknown): string {
  const { code, name } = thrown as NodeJS.ErrnoException;
  return code ?? name;
}

/** @param what - of ours; words of a service are not in it. */
export const storageUnavailable = (what: string): Failure =>
  new Failure('STORAGE_UNAVAILABLE', { cause: new Error(what) });
