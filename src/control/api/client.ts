import { linesOf } from '../../base/text/lines-of.ts';
import { ApiError } from './api-error.ts';
import { type ContractName, type RouteInput, type RouteOutput, routeOf } from './contract/contract.ts';

/** Client of the control API, in process or remote. */
export interface ApiClient {
  /** @throws ApiError for an error response; ApiUnreachableError if a remote service does not respond. */
  call<Name extends ContractName>(name: Name, input: RouteInput<Name>): Promise<RouteOutput<Name>>;
}

/** No control API responds at the URL. */
export class ApiUnreachableError extends Error {
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(
      `${url} ${reason}. Give the address of a running service, such as https://solway.example.com.`,
      options,
    );
    this.name = 'ApiUnreachableError';
  }
}

export type RemoteApiOptions = Readonly<{
  /** Without a path. */
  url: string;
  /** `svc_admin_live_…` */
  token: string;
  /** Milliseconds. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}>;

export const remoteApiOptions = { timeoutMs: 30_000 } as const;

const statuses: readonly number[] = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 503];

function pathOf(name: ContractName, path: Readonly<Record<string, string>>): string {
  const [, pattern = ''] = name.split(' ');
  return pattern.replaceAll(/\{(\w+)\}/g, (_whole, parameter: string) =>
    encodeURIComponent(path[parameter] ?? ''),
  );
}

type Problem = { error?: { code?: unknown; message?: unknown; fields?: Record<string, string> } };

async function toError(response: Response, url: string): Promise<Error> {
  const problem = (await response.json().catch(() => ({}))) as Problem;
  const { code, message, fields } = problem.error ?? {};
  if (typeof code !== 'string' || typeof message !== 'string' || !statuses.includes(response.status))
    return new ApiUnreachableError(url, `answered with HTTP ${response.status}`);
  return new ApiError(response.status as ApiError['status'], code, message, fields ? { fields } : {});
}

const textOf = (body: ReadableStream<Uint8Array>): AsyncIterable<string> =>
  body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);

/** Client of a remote control API with a token. */
export function remoteApi({
  url,
  token,
  timeoutMs = remoteApiOptions.timeoutMs,
  ...rest
}: RemoteApiOptions): ApiClient {
  const send = rest.fetch ?? fetch;
  return {
    async call<Name extends ContractName>(name: Name, input: RouteInput<Name>): Promise<RouteOutput<Name>> {
      const {
        path = {},
        query = {},
        body,
      } = input as {
        path?: Record<string, string>;
        query?: Record<string, unknown>;
        body?: unknown;
      };
      const fields = Object.entries(query).flatMap(([field, value]) =>
        value === undefined ? [] : [[field, String(value)]],
      );
      const search = fields.length === 0 ? '' : `?${new URLSearchParams(fields as [string, string][])}`;
      const response = await send(`${url.replace(/\/+$/, '')}/api/v1${pathOf(name, path)}${search}`, {
        method: name.slice(0, name.indexOf(' ')),
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }).catch((cause: unknown) => {
        throw new ApiUnreachableError(url, 'does not respond', { cause });
      });
      if (!response.ok) throw await toError(response, url);
      if ((routeOf(name).format ?? 'json') !== 'json' && response.body !== null)
        return linesOf(textOf(response.body)) as unknown as RouteOutput<Name>;
      return (await response.json()) as RouteOutput<Name>;
    },
  };
}
