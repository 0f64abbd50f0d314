import { Agent, FormData, request } from 'undici';
import { Failure } from '../../protocol/errors.ts';

export const storageServiceLimits = {
  connectTimeoutMs: 5_000,
  /** Timeout of a whole request, including the upload of a large file. */
  exchangeMaxMs: 10 * 60_000,
  /** Maximum time without response data after the request has been sent. */
  silenceMs: 120_000,
  answerMaxBytes: 256 * 1024,
  /** Maximum connections; further requests wait. */
  connectionsMax: 16,
};

export type StorageServiceLimits = Readonly<typeof storageServiceLimits>;

export type ServiceResponse = Readonly<{ status: number; text: string }>;

/** HTTP client for a storage service. Responses from the service are not shown to clients. */
export class StorageService {
  readonly #url: string;
  readonly #authorization: string | null;
  readonly #limits: StorageServiceLimits;
  readonly #agent: Agent;

  /** @param authorization - header value; never logged or included in an error. */
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

  /**
   * @param body - JSON, or a file to send in a form.
   * @throws Failure STORAGE_UNAVAILABLE if no complete response arrives. An error status does not throw.
   */
  async request(method: 'GET' | 'POST', path: string, body?: Blob | string): Promise<ServiceResponse> {
    const { exchangeMaxMs, silenceMs } = this.#limits;
    const headers: Record<string, string> = { accept: 'application/json' };
    if (this.#authorization !== null) headers.authorization = this.#authorization;
    if (typeof body === 'string') headers['content-type'] = 'application/json';
    try {
      const response = await request(`${this.#url}${path}`, {
        method,
        headers,
        body: body instanceof Blob ? formOf(body) : (body ?? null),
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

function formOf(file: Blob): FormData {
  const form = new FormData();
  form.append('file', file, 'file');
  return form;
}

/** Returns only the error code, because the message may contain the address and its credentials. */
function codeOf(thrown: unknown): string {
  const { code, name } = thrown as Readonly<{ code?: unknown; name: string }>;
  return typeof code === 'string' ? code : name;
}

/** @param what - our own text; must not contain text from the service. */
export const storageUnavailable = (what: string): Failure =>
  new Failure('STORAGE_UNAVAILABLE', { cause: new Error(what) });
