import { z } from 'zod';
import type { FailureRow } from '../protocol/errors.ts';
import { type FailureCode, failures } from '../protocol/errors.ts';
import { type Endpoint, failuresOf } from './endpoint.ts';

const textOf = ({ restText, text }: FailureRow): string => restText ?? text;

type Json = { [name: string]: unknown };

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  });
  // Adds the metadata, because Zod omits defaults that are set by preprocessing.
  return { ...rest, ...schema.meta() };
}

const shapeOf = (fields: z.ZodType): Record<string, z.ZodType> =>
  fields instanceof z.ZodObject ? (fields.shape as Record<string, z.ZodType>) : {};

const isOptional = (field: z.ZodType): boolean => field.safeParse(undefined).success;

function queryParameters(fields: z.ZodType): Json[] {
  return Object.entries(shapeOf(fields)).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field, 'input');
    return { name, in: 'query', required: !isOptional(field), description, schema };
  });
}

function bodySchema(fields: z.ZodType): Json {
  const shape = Object.entries(shapeOf(fields));
  return {
    type: 'object',
    properties: Object.fromEntries(shape.map(([name, field]) => [name, schemaOf(field, 'input')])),
    required: shape.filter(([, field]) => !isOptional(field)).map(([name]) => name),
  };
}

const upload: Json = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: { file: { type: 'string', format: 'binary' } },
        required: ['file'],
      },
    },
  },
};

function requestOf({ from, fields, verb }: Endpoint): Json {
  if (from === 'upload') return { requestBody: upload };
  const parameters = queryParameters(fields);
  if (from === 'query') return { parameters };
  // In OpenAPI, GET requests have no body.
  if (verb === 'GET') return { parameters };
  return { requestBody: { required: true, content: { 'application/json': { schema: bodySchema(fields) } } } };
}

/** Failures for requests that match no endpoint. */
const pathFailures: readonly FailureCode[] = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'];

function failureResponses(endpoint: Endpoint): Json {
  const statuses = Map.groupBy(failuresOf(endpoint), (code) => failures[code].http);
  return Object.fromEntries(
    [...statuses].map(([http, codes]) => [
      http,
      {
        description: codes.map((code) => `${code}: ${textOf(failures[code])}`).join('; '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

function operationOf(endpoint: Endpoint): Json {
  const { name, group, summary, description, result } = endpoint;
  const envelope = {
    type: 'object',
    properties: {
      success: { const: true },
      message: { type: 'string' },
      result: schemaOf(result, 'output'),
    },
    required: ['success', 'message', 'result'],
  };
  return {
    operationId: name.replace(/\W+/g, '_'),
    tags: [group],
    summary,
    ...(description === undefined ? {} : { description }),
    ...requestOf(endpoint),
    responses: {
      200: { description: 'Success.', content: { 'application/json': { schema: envelope } } },
      ...failureResponses(endpoint),
    },
  };
}

const errorSchema = (codes: readonly FailureCode[]): Json => ({
  type: 'object',
  properties: {
    success: { const: false },
    message: { type: 'string' },
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: codes },
        message: { type: 'string' },
        retryAfter: { type: 'integer', description: 'Seconds.' },
        response: {
          type: 'object',
          description: 'Invalid fields and how to correct them.',
          properties: {
            errors: {
              type: 'array',
              items: {
                type: 'object',
                properties: { field: { type: 'string' }, message: { type: 'string' } },
                required: ['field', 'message'],
              },
            },
          },
          required: ['errors'],
        },
        rpc: { type: 'object', description: 'JSON-RPC error of the node.' },
        outcome: {
          const: 'unknown',
          description: 'A node may have accepted the transaction: check its `signature`.',
        },
        signature: { type: 'string' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['success', 'message', 'error'],
});

/** OpenAPI 3.1 document. Omits path aliases, which are only for existing clients. */
export function openApi(endpoints: readonly Endpoint[], version: string): Json {
  const paths: Record<string, Json> = {};
  const codes = [...new Set([...endpoints.flatMap(failuresOf), ...pathFailures])];
  for (const endpoint of endpoints) {
    const [path] = endpoint.paths;
    paths[path] = { ...paths[path], [endpoint.verb.toLowerCase()]: operationOf(endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Solway REST', version },
    servers: [{ url: '/' }],
    security: [{ header: [] }, { bearer: [] }, { query: [] }],
    paths,
    components: {
      schemas: { Error: errorSchema(codes) },
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
        query: { type: 'apiKey', in: 'query', name: 'api-key' },
      },
    },
  };
}
