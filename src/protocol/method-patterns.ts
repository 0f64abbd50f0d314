/** Matches every method. */
export const ANY_METHOD = '*';
const EVERY = [ANY_METHOD];

/** Patterns of the methods that a node serves: names, prefixes such as `getToken*`, or `*`. null: every method. */
export const patternsOf = (
  node: Readonly<{ methods?: readonly string[] | null | undefined }>,
): readonly string[] => node.methods ?? EVERY;
