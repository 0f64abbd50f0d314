import { z } from 'zod';

const strict = new WeakMap<z.ZodType, z.ZodType>();

/** The schema of a question in which a field that nobody knows is a mistake of the caller's, not something to pass over. */
export function strictOf(schema: z.ZodType): z.ZodType {
  const strictSchema = strict.get(schema) ?? (schema instanceof z.ZodObject ? schema.strict() : schema);
  strict.set(schema, strictSchema);
  return strictSchema;
}
