/** Builds a map with one entry per name. Each key of `entries` is a space-separated list of names. */
export const byEachName = <Key, Value>(
  entries: Readonly<Record<string, Value>>,
  keyOf: (name: string) => Key,
): ReadonlyMap<Key, Value> =>
  new Map(
    Object.entries(entries).flatMap(([names, value]) =>
      names.split(' ').map((name) => [keyOf(name), value] as const),
    ),
  );
