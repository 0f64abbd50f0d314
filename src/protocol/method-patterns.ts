import { type MethodRow, methods, methodTraits } from './methods.ts';

/** Matches every method. */
export const ANY_METHOD = '*';
const EVERY = [ANY_METHOD];

/** Whether a name or prefix, such as `getToken*`, or `*` matches the method. */
export const matchesPattern = (pattern: string, method: string): boolean =>
  pattern.endsWith('*') ? method.startsWith(pattern.slice(0, -1)) : pattern === method;

/** Patterns of the methods that a node serves: names, prefixes such as `getToken*`, or `*`. null: every method. */
export const patternsOf = (
  node: Readonly<{ methods?: readonly string[] | null | undefined }>,
): readonly string[] => node.methods ?? EVERY;

/** Names of the known methods without effects that match one of the patterns. */
export function readsMatching(patterns: readonly string[]): ReadonlySet<string> {
  const reads = Object.entries<MethodRow>(methods).filter(([, { kind }]) => !methodTraits[kind].hasEffect);
  const names = reads.map(([name]) => name);
  return new Set(names.filter((name) => patterns.some((pattern) => matchesPattern(pattern, name))));
}
