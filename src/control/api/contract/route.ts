import { z } from 'zod';
import type { MemberRole } from '../../accounts/roles.ts';

/** A member role is the minimum role required. Operators may call every route. */
type RouteAccess = 'anybody' | 'signed-in' | MemberRole | 'operator';

export const mediaTypes = {
  json: 'application/json',
  csv: 'text/csv',
  jsonl: 'application/jsonl',
  /** A JSON document whose exact bytes matter. */
  document: 'application/json',
  text: 'text/plain',
  events: 'text/event-stream',
} as const;
export type RouteFormat = keyof typeof mediaTypes;

export type Route = Readonly<{
  access: RouteAccess;
  /** Path parameter that contains a user id. That user needs only to be a member, not to have the role in `access`. */
  self?: string;
  summary: string;
  /** Fields arrive as text; the schema converts them. */
  query?: z.ZodType;
  body?: z.ZodType;
  /** Schema of a JSON response; absent for other formats. */
  result?: z.ZodType;
  format?: RouteFormat;
}>;

/** Method and path below /api/v1, e.g. `GET /customers/{customer}/keys`. */
export type RouteName = `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} /${string}`;

export type PathParameters<Name extends string> = Name extends `${string}{${infer Parameter}}${infer Rest}`
  ? Parameter | PathParameters<Rest>
  : never;

const strict = new WeakMap<z.ZodType, z.ZodType>();

export function strictOf(schema: z.ZodType): z.ZodType {
  const strictSchema = strict.get(schema) ?? (schema instanceof z.ZodObject ? schema.strict() : schema);
  strict.set(schema, strictSchema);
  return strictSchema;
}
