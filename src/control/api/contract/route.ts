import { z } from 'zod';
import type { MemberRole } from '../../accounts/roles.ts';

/**
 * Who may call a route: anybody; whoever is signed in; a member of the customer in the path with this role or one that
 * may more; the operator. The operator may everything that members may.
 */
type RouteAccess = 'anybody' | 'signed-in' | MemberRole | 'operator';

/** What a route answers with besides JSON. */
export type RouteFormat = 'json' | 'csv' | 'jsonl' | 'events';

/** One route of the control API, as it is declared. */
export type Route = Readonly<{
  access: RouteAccess;
  /** The parameter of the path that names a user: whoever names themselves need only be a member. */
  self?: string;
  /** One sentence, for the OpenAPI document. */
  summary: string;
  /** Fields of the query; all of them are text on the wire and coerced by their schema. */
  query?: z.ZodType;
  body?: z.ZodType;
  /** The JSON answer; of other formats nothing is declared. */
  result?: z.ZodType;
  format?: RouteFormat;
}>;

/** `GET /customers/{customer}/keys`: verb and path below /api/v1, with the names of what varies in braces. */
export type RouteName = `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} /${string}`;

/** The names in braces of a path. */
export type PathParameters<Name extends string> = Name extends `${string}{${infer Parameter}}${infer Rest}`
  ? Parameter | PathParameters<Rest>
  : never;

const strict = new WeakMap<z.ZodType, z.ZodType>();

/** The schema of a question in which a field that nobody knows is a mistake of the caller's, not something to pass over. */
export function strictOf(schema: z.ZodType): z.ZodType {
  const strictSchema = strict.get(schema) ?? (schema instanceof z.ZodObject ? schema.strict() : schema);
  strict.set(schema, strictSchema);
  return strictSchema;
}
