import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { type ContractName, type ParsedRouteInput, routeOf } from '../contract/contract.ts';
import { strictOf } from '../contract/strict.ts';

/** What a caller sent, as it came. */
export type RawRouteInput = Readonly<{
  path: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
}>;

const FIELDS_MAX = 20;
/** A part of a path that stands for a thing. */
const PARAMETER = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

function fieldsOf(error: z.ZodError, part: string): Record<string, string> {
  const named = error.issues.flatMap((issue) => {
    const at = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [[at.join('.') || part, issue.message] as const];
    return issue.keys.map(
      (key) => [[...at, key].join('.').slice(0, 64), 'there is no such field here'] as const,
    );
  });
  return Object.fromEntries(named.slice(0, FIELDS_MAX));
}

/** @throws ApiError 422 that names each field. */
function read(schema: z.ZodType | undefined, value: unknown, part: 'query' | 'body'): unknown {
  if (schema === undefined) return null;
  const parsed = strictOf(schema).safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = fieldsOf(parsed.error, part);
  const messages = Object.entries(fields).map(([field, text]) => `${field}: ${text}`);
  throw new ApiError(
    422,
    'INVALID_FIELDS',
    `the ${part} is not as it must be: ${messages.join('; ')}`.slice(0, 1_000),
    {
      fields,
    },
  );
}

/**
 * Reads a question by the contract.
 * @throws ApiError 422 that names each field; 404 where a part of the path can name nothing.
 */
export function parseRouteInput<Name extends ContractName>(
  name: Name,
  raw: RawRouteInput,
): ParsedRouteInput<Name> {
  const { query, body } = routeOf(name);
  for (const part of Object.values(raw.path)) {
    if (!PARAMETER.test(part))
      throw new ApiError(404, 'NOT_FOUND', 'there is no such thing: see the list for the ids');
  }
  if (query === undefined && Object.keys(raw.query).length > 0) read(z.object({}), raw.query, 'query');
  return {
    path: raw.path,
    query: read(query, raw.query, 'query'),
    body: read(body, raw.body, 'body'),
  } as ParsedRouteInput<Name>;
}
