/** Map of entries whose keys hold one or more names, separated by spaces. */
export const byEachName = <Key, Value>(
  entries: Readonly<Record<string, Value>>,
  keyOf: (name: string) => Key,
): ReadonlyMap<Key, Value> =>
  new Map(
    Object.entries(entries).flatMap(([names, value]) =>
      names.split(' ').map((name) => [keyOf(name), value] as const),
    ),
  );
