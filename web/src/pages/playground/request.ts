import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import type { GatewayRequest } from '../../gateway-call.ts';

export type Method = RouteOutput<'GET /methods'>['methods'][number];

export type Request = Readonly<
  | { isValid: true; kind: 'rpc'; method: string; params: string; network?: string }
  | { isValid: true; kind: 'websocket'; method: string; params: string }
  | { isValid: true; kind: 'rest'; request: GatewayRequest }
  | { isValid: true; kind: 'grpc'; path: string; body: string }
  | { isValid: false; fault: string }
>;

export type ValidRequest = Extract<Request, { isValid: true }>;

export const takesArray = ({ kind }: Method): boolean => kind === 'rpc' || kind === 'websocket';

const restVerb = ({ example }: Method): string => example.split(' ', 1)[0] ?? 'GET';

/** The example of a method as editable JSON. @param network - replaces that of a REST example. */
export function initialText(method: Method, network: string): string {
  const { kind, example } = method;
  if (kind !== 'rest') return JSON.stringify(JSON.parse(example), null, 2);
  const input = example.slice(restVerb(method).length + 1);
  const values: object = input.startsWith('{')
    ? JSON.parse(input)
    : Object.fromEntries(new URLSearchParams(input));
  return JSON.stringify('network' in values ? { ...values, network } : values, null, 2);
}

const invalid = (fault: string): Request => ({ isValid: false, fault });

/** Sends numbers as typed, to preserve u64 values. */
export function readRequest(method: Method, text: string): Request {
  const json = text.trim() === '' ? (takesArray(method) ? '[]' : '{}') : text.trim();
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (thrown) {
    return invalid(`Invalid JSON: ${(thrown as Error).message}`);
  }
  const { kind, name } = method;
  if (kind === 'rpc' || kind === 'websocket')
    return Array.isArray(value)
      ? { isValid: true, kind, method: name, params: json }
      : invalid('Parameters must be a JSON array: [ … ].');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return invalid('The request must be a JSON object: { … }.');
  const path = method.path ?? '';
  if (kind === 'grpc') return { isValid: true, kind, path, body: json };
  const verb = restVerb(method);
  if (verb !== 'GET') return { isValid: true, kind, request: { verb, path, body: json } };
  const query = new URLSearchParams(
    Object.entries(value).map(([field, part]): [string, string] => [field, String(part)]),
  );
  return {
    isValid: true,
    kind,
    request: { verb, path: query.size > 0 ? `${path}?${query}` : path, body: null },
  };
}
