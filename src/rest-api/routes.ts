import type { z } from 'zod';
import type { JsonValue, WritableJson } from '../base/json.ts';
import type { Network } from '../protocol/call.ts';
import { type FieldProblem, InvalidFields } from '../protocol/rest/invalid-fields.ts';
import type { RestInput, RestRoute } from '../protocol/rest/route.ts';
import { contextOf, type Endpoint } from './endpoint.ts';
import type { Services } from './services.ts';

const PROBLEMS_MAX = 20;

type RawFields = Readonly<Record<string, JsonValue | undefined>>;

/** Repeated parameters, and parameters whose name ends in `[]`, become lists. */
function queryFields(query: RestInput['query']): RawFields {
  const fields: Record<string, JsonValue> = Object.create(null);
  for (const [name, values] of query) {
    const isList = name.endsWith('[]') || values.length > 1;
    const own = name.endsWith('[]') ? name.slice(0, -2) : name;
    fields[own] = isList ? [...values] : (values[0] ?? '');
  }
  return fields;
}

function bodyFields(body: JsonValue | undefined): RawFields {
  if (body === undefined) return {};
  if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body;
  throw new InvalidFields([{ field: 'body', message: 'must be a JSON object' }]);
}

function rawFields({ from }: Endpoint, { query, body }: RestInput): RawFields {
  if (from === 'query') return queryFields(query);
  if (from === 'body') return bodyFields(body);
  return from === 'either' ? { ...queryFields(query), ...bodyFields(body) } : {};
}

/** Formats the path of a validation issue, such as `token_addresses[3]`. */
function fieldName(path: readonly PropertyKey[]): string {
  const [first, ...rest] = path.map(String);
  return `${first ?? 'body'}${rest.map((part) => `[${part}]`).join('')}`;
}

function readFields(endpoint: Endpoint, input: RestInput): unknown {
  const read = endpoint.fields.safeParse(rawFields(endpoint, input));
  if (read.success) return read.data;
  const problems: FieldProblem[] = read.error.issues
    .slice(0, PROBLEMS_MAX)
    .map(({ path, message }) => ({ field: fieldName(path), message }));
  throw new InvalidFields(problems);
}

export function routeOf(endpoint: Endpoint, services: Services): RestRoute {
  const { verb, paths, group, name, from } = endpoint;
  return {
    ...{ verb, paths, group, name },
    bodyType: from === 'upload' ? 'upload' : 'json',
    holdsSecrets: endpoint.holdsSecrets === true,
    async handle(input, caller) {
      const fields = readFields(endpoint, input);
      const { network } = fields as { network?: Network };
      if (network !== undefined) caller.useNetwork?.(network);
      const context = contextOf(caller, services, input.file);
      const { message, result } = await endpoint.handle(fields as z.output<z.ZodType>, context);
      return { message, result: result as WritableJson };
    },
  };
}
