import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import type { GatewayRequest } from '../../gateway-call.ts';

export type Method = RouteOutput<'GET /methods'>['methods'][number];

export type Request = Readonly<
  | { isGood: true; kind: 'rpc'; method: string; params: string }
  | { isGood: true; kind: 'websocket'; method: string; params: string }
  | { isGood: true; kind: 'rest'; request: GatewayRequest }
  | { isGood: true; kind: 'grpc'; path: string; body: string }
  | { isGood: false; fault: string }
>;

export type GoodRequest = Extract<Request, { isGood: true }>;

export const bodyOf = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${params}}`;

export const isArray = ({ kind }: Method): boolean => kind === 'rpc' || kind === 'websocket';

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

const bad = (fault: string): Request => ({ isGood: false, fault });

/** Sends numbers as typed, to preserve u64 values. */
export function readRequest(method: Method, text: string): Request {
  const json = text.trim() === '' ? (isArray(method) ? '[]' : '{}') : text.trim();
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (thrown) {
    return bad(`Invalid JSON: ${(thrown as Error).message}`);
  }
  const { kind, name } = method;
  if (kind === 'rpc' || kind === 'websocket')
    return Array.isArray(value)
      ? { isGood: true, kind, method: name, params: json }
      : bad('Parameters must be a JSON array: [ … ].');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad('The request must be a JSON object: { … }.');
  const path = method.path ?? '';
  if (kind === 'grpc') return { isGood: true, kind, path, body: json };
  const verb = restVerb(method);
  if (verb !== 'GET') return { isGood: true, kind, request: { verb, path, body: json } };
  const query = new URLSearchParams(
    Object.entries(value).map(([field, part]): [string, string] => [field, String(part)]),
  );
  return {
    isGood: true,
    kind,
    request: { verb, path: query.size > 0 ? `${path}?${query}` : path, body: null },
  };
}
