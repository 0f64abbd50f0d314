import type { z } from 'zod';
import { accountRoutes } from './accounts.ts';
import { keyRoutes } from './keys.ts';
import { logRoutes } from './logs.ts';
import { nodeRoutes } from './nodes.ts';
import { operatorRoutes } from './operator.ts';
import type { PathParameters, Route } from './route.ts';
import { usageRoutes } from './usage.ts';

/**
 * The control API: everything that it can be asked, with the shapes of question and answer. Handlers, validation, the
 * OpenAPI document, the command line and the dashboard follow from it. Paths stand below /api/v1.
 */
export const contract = {
  ...accountRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...logRoutes,
  ...operatorRoutes,
  ...nodeRoutes,
} as const;

export type Contract = typeof contract;
export type ContractName = keyof Contract;

type SchemaOf<R, Part extends 'query' | 'body' | 'result'> = R extends {
  readonly [P in Part]: infer S extends z.ZodType;
}
  ? S
  : null;

/** What a caller gives with a route, as it is sent: fields with defaults may be left out. */
export type RouteInput<Name extends ContractName> = Readonly<
  ([PathParameters<Name>] extends [never] ? object : { path: Record<PathParameters<Name>, string> }) &
    (SchemaOf<Contract[Name], 'query'> extends z.ZodType
      ? { query?: z.input<SchemaOf<Contract[Name], 'query'>> }
      : object) &
    (SchemaOf<Contract[Name], 'body'> extends z.ZodType
      ? { body: z.input<SchemaOf<Contract[Name], 'body'>> }
      : object)
>;

/** What a handler gets, read and complete. */
export type ParsedRouteInput<Name extends ContractName> = Readonly<{
  path: Record<PathParameters<Name>, string>;
  query: SchemaOf<Contract[Name], 'query'> extends z.ZodType
    ? z.output<SchemaOf<Contract[Name], 'query'>>
    : null;
  body: SchemaOf<Contract[Name], 'body'> extends z.ZodType
    ? z.output<SchemaOf<Contract[Name], 'body'>>
    : null;
}>;

/** What a route answers; of formats other than JSON, lines of text as they come. */
export type RouteOutput<Name extends ContractName> =
  SchemaOf<Contract[Name], 'result'> extends z.ZodType
    ? z.output<SchemaOf<Contract[Name], 'result'>>
    : AsyncIterable<string>;

/** A route by its name, without the narrow type. */
export const routeOf = (name: ContractName): Route => contract[name];
