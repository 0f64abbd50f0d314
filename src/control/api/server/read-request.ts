import { z } from 'zod';
import { ApiError, invalidFields, notFound } from '../api-error.ts';
import {
  type ContractName,
  type ParsedRouteInput,
  type RawRouteInput,
  routeOf,
} from '../contract/contract.ts';
import { strictOf } from '../contract/route.ts';
import { EMAIL_RULE } from '../contract/values.ts';

const JSON_TYPE = /^application\/json *(?:;|$)/i;
/** PostgreSQL text cannot contain NUL. */
const NUL = /\\u0000|\0/;

type BodyBounds = Readonly<{ maxBytes: number; timeoutMs: number }>;

/** @throws ApiError 413 as soon as the body is too long, 408 if the body does not arrive in time. */
export async function readBytes(request: Request, { maxBytes, timeoutMs }: BodyBounds): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const collector = new WritableStream<Uint8Array>({
    write(piece) {
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      pieces.push(piece);
    },
  });
  const timeout = AbortSignal.timeout(timeoutMs);
  await request.body.pipeTo(collector, { signal: timeout }).catch((thrown: unknown) => {
    throw thrown === timeout.reason ? tooSlow(timeoutMs) : thrown;
  });
  return Buffer.concat(pieces);
}

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError(413, 'BODY_TOO_LARGE', `The body must have at most ${maxBytes} bytes. Send less at a time.`);

const tooSlow = (timeoutMs: number): ApiError =>
  new ApiError(
    408,
    'BODY_TOO_SLOW',
    `The body did not arrive within ${timeoutMs} ms. Send it again on a new connection.`,
  );

export function readJson(request: Request, bytes: Uint8Array): unknown {
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? ''))
    throw new ApiError(
      415,
      'NOT_JSON',
      'Send the body as JSON, with the header: content-type: application/json',
    );
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!NUL.test(text)) return JSON.parse(text);
  } catch {
    // Invalid JSON gets the same error as a NUL character.
  }
  throw new ApiError(422, 'NOT_JSON', 'The body is not valid JSON in UTF-8');
}

/** Rejects repeated fields and NUL characters. @throws ApiError 422 */
export function readQuery(url: string): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URL(url).searchParams) {
    const printable = name.slice(0, 64);
    const fault = fields.has(name) ? 'is given twice' : NUL.test(value) ? 'contains a NUL character' : null;
    if (fault !== null) throw invalidFields(`${printable} ${fault}`, { [printable]: fault });
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

const FIELDS_MAX = 20;
/** Pattern of an id in a path. */
const PARAMETER = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

function fieldsOf(error: z.ZodError, part: string): Record<string, string> {
  const named = error.issues.flatMap((issue) => {
    const at = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [[at.join('.') || part, issue.message] as const];
    return issue.keys.map((key) => [[...at, key].join('.').slice(0, 64), 'is an unknown field'] as const);
  });
  return Object.fromEntries(named.slice(0, FIELDS_MAX));
}

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items' };

function boundText(limit: string, value: number | bigint, origin: string): string {
  const [verb, unit] = origin in units ? ['have', ` ${units[origin]}`] : ['be', ''];
  return `must ${verb} ${limit} ${value.toLocaleString('en')}${unit}`;
}

const typeTexts: Readonly<Record<string, string>> = { int: 'a whole number', number: 'a number' };

/** Follows the name of the field. Used if the schema has no text of its own. */
function textOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'too_big') return boundText('at most', issue.maximum, issue.origin);
  if (issue.code === 'too_small' && issue.minimum === 1 && issue.origin in units) return 'must not be empty';
  if (issue.code === 'too_small') return boundText('at least', issue.minimum, issue.origin);
  if (issue.code === 'invalid_format' && issue.format === 'email') return EMAIL_RULE;
  if (issue.code !== 'invalid_type') return undefined;
  return issue.input === undefined
    ? 'is missing'
    : `must be ${typeTexts[issue.expected] ?? `of type ${issue.expected}`}`;
}

function read(schema: z.ZodType | undefined, value: unknown, part: 'query' | 'body'): unknown {
  if (schema === undefined) return null;
  const parsed = strictOf(schema).safeParse(value, { error: textOf });
  if (parsed.success) return parsed.data;
  const fields = fieldsOf(parsed.error, part);
  const messages = Object.entries(fields).map(([field, text]) => `${field}: ${text}`);
  throw invalidFields(`The ${part} is invalid: ${messages.join('; ')}`.slice(0, 1_000), fields);
}

/** @throws ApiError 422 that names the invalid fields; 404 for a malformed id in the path. */
export function parseRouteInput<Name extends ContractName>(
  name: Name,
  raw: RawRouteInput,
): ParsedRouteInput<Name> {
  const { query, body } = routeOf(name);
  for (const part of Object.values(raw.path)) {
    if (!PARAMETER.test(part)) throw notFound('There is no such resource. See the list for the ids.');
  }
  if (query === undefined && Object.keys(raw.query).length > 0) read(z.object({}), raw.query, 'query');
  return {
    path: raw.path,
    query: read(query, raw.query, 'query'),
    body: read(body, raw.body, 'body'),
  } as ParsedRouteInput<Name>;
}
