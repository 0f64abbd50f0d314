import { OperatorError } from '../../base/operator-error.ts';
import { linesOf } from '../../base/text/lines-of.ts';
import { ApiError } from './api-error.ts';
import {
  type ContractName,
  type RawRouteInput,
  type RouteInput,
  type RouteOutput,
  routeOf,
} from './contract/contract.ts';

export interface ApiClient {
  /** @throws ApiError for an error response; OperatorError if no control API responds */
  call<Name extends ContractName>(name: Name, input: RouteInput<Name>): Promise<RouteOutput<Name>>;
}

const unreachable = (url: string, reason: string, options?: ErrorOptions): OperatorError =>
  new OperatorError(
    `${url} ${reason}. Give the address of a running service, such as https://solway.example.com.`,
    options,
  );

/** Converts to the body type of the API contract: copies lists and drops undefined members. */
export const bodyOf = <Body>(fields: object): Body => JSON.parse(JSON.stringify(fields)) as Body;

const TIMEOUT_MS = 30_000;

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
    return unreachable(url, `answered with HTTP ${response.status}`);
  return new ApiError(response.status as ApiError['status'], code, message, fields ? { fields } : {});
}

const textOf = (body: ReadableStream<Uint8Array>): AsyncIterable<string> =>
  body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);

/** @param url - base URL of a remote service, without a path. */
export function remoteApi({ url, token }: Readonly<{ url: string; token: string }>): ApiClient {
  if (!/^https?:\/\//.test(url)) throw unreachable(url, 'is not an http(s) URL');
  return {
    async call<Name extends ContractName>(name: Name, input: RouteInput<Name>): Promise<RouteOutput<Name>> {
      const { path = {}, query = {}, body } = input as Partial<RawRouteInput>;
      const fields = Object.entries(query).flatMap(([field, value]) =>
        value === undefined ? [] : [[field, String(value)]],
      );
      const search = fields.length === 0 ? '' : `?${new URLSearchParams(fields as [string, string][])}`;
      const response = await fetch(`${url.replace(/\/+$/, '')}/api/v1${pathOf(name, path)}${search}`, {
        method: name.slice(0, name.indexOf(' ')),
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }).catch((cause: unknown) => {
        throw unreachable(url, 'does not respond', { cause });
      });
      if (!response.ok) throw await toError(response, url);
      if ((routeOf(name).format ?? 'json') !== 'json' && response.body !== null)
        return linesOf(textOf(response.body)) as unknown as RouteOutput<Name>;
      return (await response.json()) as RouteOutput<Name>;
    },
  };
}
