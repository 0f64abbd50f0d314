/** A table in the file, or a section of the configuration. */
export type Table = { [name: string]: unknown };

export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
