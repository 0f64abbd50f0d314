import { z } from 'zod';
import { type ContractName, contract, routeOf } from '../contract/contract.ts';
import { mediaTypes, type Route, strictOf } from '../contract/route.ts';

type Json = Readonly<Record<string, unknown>>;

const problem: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        code: { type: 'string', description: 'Machine-readable error code' },
        message: { type: 'string', description: 'What is wrong and how to fix it' },
        fields: { type: 'object', additionalProperties: { type: 'string' } },
        requestId: { type: 'string' },
      },
    },
  },
};

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
};

function parametersOf(path: string, query: z.ZodType | undefined): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  if (query === undefined) return inPath;
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
  return [...inPath, ...inQuery];
}

function responseOf({ result, format }: Route): Json {
  if (format !== undefined && format !== 'json')
    return {
      description: 'Lines of text, streamed',
      content: { [mediaTypes[format]]: { schema: { type: 'string' } } },
    };
  const schema = result === undefined ? {} : schemaOf(result, 'output');
  return { description: 'The response', content: { 'application/json': { schema } } };
}

/** `POST /customers/{customer}/keys` → `postCustomersKeys`. */
function operationId(verb: string, path: string): string {
  const parts = path.split(/[/.{}-]+/).filter((part) => part !== '');
  return [verb.toLowerCase(), ...parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1))].join('');
}

function operationOf(name: ContractName): Json {
  const route = routeOf(name);
  const [verb = '', path = ''] = name.split(' ');
  const body = route.body && {
    content: { 'application/json': { schema: schemaOf(strictOf(route.body), 'input') } },
    required: true,
  };
  return {
    operationId: operationId(verb, path),
    summary: route.summary,
    description: `Who may: ${route.access}.`,
    parameters: parametersOf(path, route.query),
    ...(body && { requestBody: body }),
    ...(route.access === 'anybody' && { security: [{}] }),
    responses: {
      200: responseOf(route),
      default: {
        description: 'An error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

export function openApiDocument(): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const name of Object.keys(contract) as ContractName[]) {
    const [verb = '', path = ''] = name.split(' ');
    paths[path] = { ...paths[path], [verb.toLowerCase()]: operationOf(name) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Solway control API', version: 'v1' },
    servers: [{ url: '/api/v1' }],
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      schemas: { Problem: problem },
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Control API token of the form svc_admin_live_…',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'solway.session_token',
          description: 'Session cookie; changes also need the header x-solway: 1',
        },
      },
    },
  };
}
