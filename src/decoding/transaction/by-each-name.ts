/** Map with an entry for each name; a key of `entries` is a list of names separated by spaces. */
export const byEachName = <Key, Value>(
  entries: Readonly<Record<string, Value>>,
  keyOf: (name: string) => Key,
): ReadonlyMap<Key, Value> =>
  new Map(
    Object.entries(entries).flatMap(([names, value]) =>
      names.split(' ').map((name) => [keyOf(name), value] as const),
    ),
  );
