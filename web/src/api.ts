import type {
  Contract,
  ContractName,
  RouteInput,
  RouteOutput,
} from '../../src/control/api/contract/contract.ts';

/** Routes that return JSON. For links and streams, see `addressOf`. */
export type CallName = {
  [Name in ContractName]: Contract[Name] extends { readonly result: unknown } ? Name : never;
}[ContractName];

export type InputArgs<Name extends ContractName> =
  Record<never, never> extends RouteInput<Name> ? [input?: RouteInput<Name>] : [input: RouteInput<Name>];

type Parts = Readonly<{
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
}>;

const BASE = '/api/v1';

/** Response timeout in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Error from the control API. `fields` maps field names to messages. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly retryAfter: number | null;

  constructor(
    status: number,
    code: string,
    message: string,
    fields: Readonly<Record<string, string>> = {},
    retryAfter: number | null = null,
  ) {
    super(message);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.retryAfter = retryAfter;
  }
}

export const fieldProblem = (field: string, text: string): ApiProblem =>
  new ApiProblem(422, 'INVALID', text, { [field]: text });

export function addressOf<Name extends ContractName>(name: Name, ...[input]: InputArgs<Name>): string {
  const { path = {}, query = {} } = (input ?? {}) as Parts;
  const template = name.slice(name.indexOf('/'));
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(path[part] ?? ''));
  const search = new URLSearchParams();
  for (const [field, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') search.set(field, String(value));
  return `${BASE}${filled}${search.size > 0 ? `?${search}` : ''}`;
}

/** Calls the control API by route name. @throws ApiProblem on errors, with status 0 when unreachable. */
export async function call<Name extends CallName>(
  name: Name,
  ...input: InputArgs<Name>
): Promise<RouteOutput<Name>> {
  const { body } = (input[0] ?? {}) as Parts;
  const response = await send(addressOf(name, ...input), name.slice(0, name.indexOf(' ')), body);
  return response as RouteOutput<Name>;
}

export async function send(address: string, method: string, body?: unknown): Promise<unknown> {
  const response = await reach(address, {
    method,
    credentials: 'same-origin',
    headers: {
      'x-solway': '1',
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const value = await readJson(response);
  if (response.ok) return value;
  throw problemOf(response, value);
}

async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch {
    throw new ApiProblem(
      0,
      'UNREACHABLE',
      'The service did not respond. Check that it is running and that you are online.',
    );
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    return null;
  }
}

type ProblemBody = Readonly<{
  code?: string;
  message?: string;
  fields?: Record<string, string>;
  error?: ProblemBody;
}>;

/** Control API errors have an `error` object; better-auth errors are flat. */
function problemOf(response: Response, value: unknown): ApiProblem {
  const outer = (typeof value === 'object' && value !== null ? value : {}) as ProblemBody;
  const body = typeof outer.error === 'object' && outer.error !== null ? outer.error : outer;
  const after = Number(
    response.headers.get('retry-after') ?? response.headers.get('x-retry-after') ?? Number.NaN,
  );
  return new ApiProblem(
    response.status,
    body.code ?? `HTTP_${response.status}`,
    body.message ?? `The service responded with HTTP status ${response.status}.`,
    body.fields,
    Number.isFinite(after) ? after : null,
  );
}

export const messageOf = (thrown: unknown): string =>
  thrown instanceof ApiProblem ? thrown.message : 'This page failed to load. Reload to try again.';
