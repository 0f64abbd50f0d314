import type { z } from 'zod';
import { accountRoutes } from './accounts.ts';
import { keyRoutes } from './keys.ts';
import { logRoutes } from './logs.ts';
import { nodeRoutes } from './nodes.ts';
import { operatorRoutes } from './operator.ts';
import type { PathParameters, Route } from './route.ts';
import { usageRoutes } from './usage.ts';

/**
 * Routes of the control API below /api/v1 with their schemas. Handlers, validation, OpenAPI document, command
 * line and dashboard are derived from it.
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

/** Request as sent: fields with defaults are optional. */
export type RouteInput<Name extends ContractName> = Readonly<
  ([PathParameters<Name>] extends [never] ? object : { path: Record<PathParameters<Name>, string> }) &
    (SchemaOf<Contract[Name], 'query'> extends z.ZodType
      ? { query?: z.input<SchemaOf<Contract[Name], 'query'>> }
      : object) &
    (SchemaOf<Contract[Name], 'body'> extends z.ZodType
      ? { body: z.input<SchemaOf<Contract[Name], 'body'>> }
      : object)
>;

/** Validated request with defaults applied. */
export type ParsedRouteInput<Name extends ContractName> = Readonly<{
  path: Record<PathParameters<Name>, string>;
  query: SchemaOf<Contract[Name], 'query'> extends z.ZodType
    ? z.output<SchemaOf<Contract[Name], 'query'>>
    : null;
  body: SchemaOf<Contract[Name], 'body'> extends z.ZodType
    ? z.output<SchemaOf<Contract[Name], 'body'>>
    : null;
}>;

/** JSON result; for other formats, lines of text. */
export type RouteOutput<Name extends ContractName> =
  SchemaOf<Contract[Name], 'result'> extends z.ZodType
    ? z.output<SchemaOf<Contract[Name], 'result'>>
    : AsyncIterable<string>;

export const routeOf = (name: ContractName): Route => contract[name];
