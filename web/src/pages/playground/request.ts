import type { Me } from '../../shell/session.tsx';
import { curlRpc } from '../../snippets.ts';
import type { Method } from './playground-page.tsx';

export type Request =
  | Readonly<{ isGood: true; kind: 'rpc'; json: string }>
  | Readonly<{ isGood: true; kind: 'rest'; path: string; query: URLSearchParams }>
  | Readonly<{ isGood: false; fault: string }>;

export function initialText({ kind, example }: Method): string {
  try {
    return JSON.stringify(JSON.parse(example), null, 2);
  } catch {
    if (kind === 'rpc') return '[]';
    return JSON.stringify(Object.fromEntries(new URLSearchParams(example)), null, 2);
  }
}

const bad = (fault: string): Request => ({ isGood: false, fault });

/** Sends numbers as typed, to preserve u64 values. */
export function readParams(method: Method, text: string): Request {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? (method.kind === 'rpc' ? '[]' : '{}') : text);
  } catch (thrown) {
    return bad(`Invalid JSON: ${(thrown as Error).message}`);
  }
  if (method.kind === 'rpc') {
    if (!Array.isArray(value)) return bad('Parameters must be a JSON array: [ … ].');
    const json = `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method.name)},"params":${text === '' ? '[]' : text.trim()}}`;
    return { isGood: true, kind: 'rpc', json };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad('Query parameters must be a JSON object: { … }.');
  const query = new URLSearchParams(Object.entries(value).map(([name, part]) => [name, String(part)]));
  return { isGood: true, kind: 'rest', path: method.path ?? '', query };
}

export function asCurl(
  urls: Me['service']['urls'],
  secret: string,
  request: Request & { isGood: true },
): string {
  if (request.kind === 'rpc') return curlRpc(urls, secret, request.json);
  const { path, query } = request;
  return `curl '${urls.http}${path}${query.size > 0 ? `?${query}` : ''}' \\\n  -H 'x-api-key: ${secret}'`;
}
