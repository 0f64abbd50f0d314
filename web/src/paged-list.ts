import { useEffect, useState } from 'react';

type Page<Item> = Readonly<{ items: readonly Item[]; next: string | null }>;
type HeldPages<Item> = Page<Item> & Readonly<{ id: string; isGrown: boolean }>;

const ITEMS_MAX = 5_000;

export type PagedList<Item> = Readonly<{
  items: readonly Item[];
  hasMore: boolean;
  isLoading: boolean;
  problem: unknown;
  more: () => void;
}>;

export function usePagedList<Item>(
  id: string,
  newest: Page<Item> | undefined,
  keyOf: (item: Item) => string,
  load: (cursor: string) => Promise<Page<Item>>,
): PagedList<Item> {
  const [held, setHeld] = useState<HeldPages<Item> | null>(null);
  const [state, setState] = useState<{ isLoading: boolean; problem: unknown }>({
    isLoading: false,
    problem: null,
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: keyOf is stable
  useEffect(() => {
    if (newest === undefined) return;
    setHeld((before) => join(id, newest, before, keyOf));
  }, [id, newest]);

  const visible = held !== null && held.id === id ? held : newest;
  const more = async (): Promise<void> => {
    if (visible?.next == null) return;
    setState({ isLoading: true, problem: null });
    try {
      const page = await load(visible.next);
      setHeld((before) => {
        const items = [...(before?.id === id ? before.items : visible.items), ...page.items];
        return { id, items, next: items.length < ITEMS_MAX ? page.next : null, isGrown: true };
      });
      setState({ isLoading: false, problem: null });
    } catch (problem) {
      setState({ isLoading: false, problem });
    }
  };

  return {
    items: visible?.items ?? [],
    hasMore: (visible?.next ?? null) !== null,
    ...state,
    more: () => void more(),
  };
}

/** Prepends the newest page; replaces the list if they do not overlap. */
function join<Item>(
  id: string,
  newest: Page<Item>,
  before: HeldPages<Item> | null,
  keyOf: (item: Item) => string,
): HeldPages<Item> {
  const fresh = { id, ...newest, isGrown: false };
  if (before === null || before.id !== id || !before.isGrown) return fresh;
  const freshIds = new Set(before.items.map(keyOf));
  const added = newest.items.filter((item) => !freshIds.has(keyOf(item)));
  if (added.length === newest.items.length && added.length > 0) return fresh;
  return { ...before, items: [...added, ...before.items].slice(0, ITEMS_MAX) };
}
