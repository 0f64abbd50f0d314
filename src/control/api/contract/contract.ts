import type { z } from 'zod';
import { accountRoutes } from './accounts.ts';
import { alertRoutes } from './alerts.ts';
import { billingRoutes } from './billing.ts';
import { healthRoutes } from './health.ts';
import { keyRoutes } from './keys.ts';
import { logRoutes } from './logs.ts';
import { nodeRoutes } from './nodes.ts';
import { operatorRoutes } from './operator.ts';
import { planRoutes } from './plans.ts';
import type { PathParameters, Route } from './route.ts';
import { usageRoutes } from './usage.ts';
import { usageLinkRoutes } from './usage-links.ts';

/** All routes. Handlers, validation, the OpenAPI document, the command line and the dashboard use this contract. */
export const contract = {
  ...accountRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...usageLinkRoutes,
  ...logRoutes,
  ...operatorRoutes,
  ...planRoutes,
  ...billingRoutes,
  ...nodeRoutes,
  ...healthRoutes,
  ...alertRoutes,
} as const;

export type Contract = typeof contract;
export type ContractName = keyof Contract;

type SchemaOf<R, Part extends 'query' | 'body' | 'result'> = R extends {
  readonly [P in Part]: infer S extends z.ZodType;
}
  ? S
  : null;

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : null;

/** A request before validation. */
export type RawRouteInput = Readonly<{
  path: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
}>;

/** A request as the client sends it: fields with defaults are optional. */
export type RouteInput<Name extends ContractName> = Readonly<
  ([PathParameters<Name>] extends [never] ? object : { path: Record<PathParameters<Name>, string> }) &
    (SchemaOf<Contract[Name], 'query'> extends z.ZodType
      ? { query?: z.input<SchemaOf<Contract[Name], 'query'>> }
      : object) &
    (SchemaOf<Contract[Name], 'body'> extends z.ZodType
      ? { body: z.input<SchemaOf<Contract[Name], 'body'>> }
      : object)
>;

export type ParsedRouteInput<Name extends ContractName> = Readonly<{
  path: Record<PathParameters<Name>, string>;
  query: OutputOf<SchemaOf<Contract[Name], 'query'>>;
  body: OutputOf<SchemaOf<Contract[Name], 'body'>>;
}>;

/** The JSON result, or lines of text for other formats. */
export type RouteOutput<Name extends ContractName> =
  SchemaOf<Contract[Name], 'result'> extends z.ZodType
    ? z.output<SchemaOf<Contract[Name], 'result'>>
    : AsyncIterable<string>;

export const routeOf = (name: ContractName): Route => contract[name];
