export type GatewayResponse = Readonly<{
  /** 0: no response. */
  status: number;
  ms: number;
  text: string;
  bytes: number;
  limits: readonly (readonly [name: string, value: string])[];
}>;

const LIMIT_HEADERS = ['RateLimit', 'RateLimit-Policy', 'Retry-After'];
const TIMEOUT_MS = 60_000;

async function send(address: string, init: RequestInit): Promise<GatewayResponse> {
  const startedAt = performance.now();
  try {
    const response = await fetch(address, {
      ...init,
      credentials: 'omit',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    return {
      status: response.status,
      ms: performance.now() - startedAt,
      text,
      bytes: new Blob([text]).size,
      limits: LIMIT_HEADERS.flatMap((name) => {
        const value = response.headers.get(name);
        return value === null ? [] : [[name, value] as const];
      }),
    };
  } catch {
    const text = 'The service did not respond. Check that it is running and reachable from this browser.';
    return { status: 0, ms: performance.now() - startedAt, text, bytes: 0, limits: [] };
  }
}

/** A JSON-RPC request. @param params - JSON; undefined: none. */
export const rpcBody = (method: string, params?: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`;

/** @param network - the default network if undefined. */
export const rpcPath = (network?: string): string =>
  network === undefined ? '/v1/rpc' : `/v1/rpc?network=${network}`;

export const callRpc = (secret: string, json: string, network?: string): Promise<GatewayResponse> =>
  send(rpcPath(network), {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: json,
  });

/** A REST request; `path` includes the query, and `body` is JSON. */
export type GatewayRequest = Readonly<{ verb: string; path: string; body: string | null }>;

export const callRest = (
  credential: string,
  { verb, path, body }: GatewayRequest,
): Promise<GatewayResponse> =>
  send(path, {
    method: verb,
    headers: { 'x-api-key': credential, ...(body === null ? {} : { 'content-type': 'application/json' }) },
    body,
  });

/** The error code of the service in a JSON-RPC response, such as INVALID_KEY. */
export function errorCodeOf({ text }: GatewayResponse): string | null {
  try {
    return (JSON.parse(text) as { error?: { data?: { code?: string } } }).error?.data?.code ?? null;
  } catch {
    return null;
  }
}

export function rejectionOf(response: GatewayResponse): string | null {
  if (response.status === 0) return response.text;
  try {
    const value = JSON.parse(response.text) as { error?: { message?: string } | string; message?: string };
    if (typeof value.error === 'string') return value.error;
    if (value.error !== undefined) return value.error.message ?? 'The request was rejected.';
    return response.status < 400
      ? null
      : (value.message ?? `The service responded with HTTP status ${response.status}.`);
  } catch {
    return response.status < 400 ? null : `The service responded with HTTP status ${response.status}.`;
  }
}
