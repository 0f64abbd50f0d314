import type { IncomingMessage } from 'node:http';
import { type JsonValue, parseJson } from '../../base/json.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import type { RestInput } from '../../protocol/rest/route.ts';
import { credentialOf } from '../caller.ts';

const PARAMETERS_MAX = 1_000;

/** Reads the key from `x-api-key`, else as for RPC calls, else from the parameter `api_key`. Source: rest-api.md §1. */
export function restCredentialOf(request: IncomingMessage, query: string): string | null {
  const header = request.headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return header;
  const credential = credentialOf(request, query);
  if (credential !== null || !query.includes('api_key')) return credential;
  return new URLSearchParams(query).get('api_key');
}

/** @throws InvalidFields if there are too many parameters. */
export function readQuery(query: string): RestInput['query'] {
  const parameters = new URLSearchParams(query);
  if (parameters.size > PARAMETERS_MAX) {
    throw new InvalidFields([{ field: 'query', message: `has more than ${PARAMETERS_MAX} parameters` }]);
  }
  const byName = Map.groupBy(parameters, ([name]) => name);
  return new Map([...byName].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Parses a JSON body. @returns undefined for an empty body. @throws InvalidFields */
export function readJsonBody(body: Buffer): JsonValue | undefined {
  if (body.length === 0) return undefined;
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    throw new InvalidFields([{ field: 'body', message: 'must be JSON' }]);
  }
}
