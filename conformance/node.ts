import { type JsonValue, parseJson, type WritableJson, writeJson } from '../src/base/json.ts';

/** A JSON-RPC node of the command line. URL and headers may contain secrets and are never printed. */
export type NodeAddress = Readonly<{
  /** Name in reports. */
  name: string;
  url: string;
  headers: Readonly<Record<string, string>>;
}>;

export type NodeError = Readonly<{ code: number; message: string; data: JsonValue | undefined }>;

/** A result, a JSON-RPC error, or a failure without a valid response. */
export type Reply = Readonly<
  | { kind: 'result'; result: JsonValue }
  | { kind: 'error'; error: NodeError }
  | { kind: 'failure'; reason: string }
>;

const TIMEOUT_MS = 30_000;
/** Printed length of an error for the whole request, such as a missing key. */
const MESSAGE_MAX_CHARS = 160;
const ANSWER_MAX_BYTES = 256 * 1024 * 1024;
/** Retries after HTTP status 429. */
const ATTEMPTS_MAX = 5;

type Members = { readonly [name: string]: JsonValue };
const isObject = (value: JsonValue | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readReply(text: string): Reply {
  let parsed: JsonValue;
  try {
    parsed = parseJson(text);
  } catch {
    return { kind: 'failure', reason: 'the response is not JSON' };
  }
  if (!isObject(parsed)) return { kind: 'failure', reason: 'the response is not a JSON object' };
  const { error, result, id } = parsed;
  if (id === null && isObject(error) && typeof error.message === 'string') {
    return { kind: 'failure', reason: error.message.slice(0, MESSAGE_MAX_CHARS) };
  }
  if (id !== 1) return { kind: 'failure', reason: 'the response has another id than the request' };
  if (isObject(error)) {
    const { code, message, data } = error;
    if (typeof code !== 'number' || typeof message !== 'string') {
      return { kind: 'failure', reason: 'the error has no code or no message' };
    }
    return { kind: 'error', error: { code, message, data } };
  }
  return result === undefined
    ? { kind: 'failure', reason: 'the response has neither result nor error' }
    : { kind: 'result', result };
}

export class RpcNode {
  readonly name: string;
  readonly #address: NodeAddress;

  constructor(address: NodeAddress) {
    this.name = address.name;
    this.#address = address;
  }

  /** Sends a call. Retries after status 429 and its Retry-After. Never rejects. */
  async request(method: string, params: WritableJson): Promise<Reply> {
    const body = writeJson({ jsonrpc: '2.0', id: 1, method, params });
    for (let requested = 1; ; requested++) {
      const reply = await this.#post(body);
      if (!('retryAfterMs' in reply)) return reply;
      if (requested === ATTEMPTS_MAX)
        return { kind: 'failure', reason: 'the node keeps returning status 429 (too many requests)' };
      await new Promise((resolve) => setTimeout(resolve, reply.retryAfterMs));
    }
  }

  async #post(body: string): Promise<Reply | { retryAfterMs: number }> {
    const { url, headers } = this.#address;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.status === 429) {
        await response.body?.cancel();
        return { retryAfterMs: 1000 * Math.min(30, Number(response.headers.get('retry-after')) || 1) };
      }
      if (Number(response.headers.get('content-length') ?? 0) > ANSWER_MAX_BYTES) {
        await response.body?.cancel();
        return { kind: 'failure', reason: 'the response is too large to compare' };
      }
      return readReply(await response.text());
    } catch (error) {
      const late = error instanceof Error && error.name === 'TimeoutError';
      return { kind: 'failure', reason: late ? `no response within ${TIMEOUT_MS} ms` : 'connection failed' };
    }
  }

  /** @throws Error with the method when there is no result. */
  async requireResult(method: string, params: WritableJson): Promise<JsonValue> {
    const reply = await this.request(method, params);
    if (reply.kind === 'result') return reply.result;
    const reason = reply.kind === 'error' ? reply.error.message : reply.reason;
    throw new Error(`${method} failed on ${this.name}: ${reason}`);
  }
}
