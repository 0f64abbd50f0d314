import { useEffect, useState } from 'react';

export type Pager = Readonly<{
  /** Cursor of the current page; undefined on the first. */
  cursor: string | undefined;
  page: number;
  toNext: (cursor: string) => void;
  toPrevious: () => void;
}>;

/** Pages of a list. Returns to the first page when `id`, which identifies the filters and the order, changes. */
export function usePager(id: string): Pager {
  const [cursors, setCursors] = useState<Readonly<{ id: string; visited: readonly string[] }>>({
    id,
    visited: [],
  });
  const visited = cursors.id === id ? cursors.visited : [];
  return {
    cursor: visited.at(-1),
    page: visited.length + 1,
    toNext: (cursor) => setCursors({ id, visited: [...visited, cursor] }),
    toPrevious: () => setCursors({ id, visited: visited.slice(0, -1) }),
  };
}

const DEBOUNCE_MS = 250;

/** The value, once it has not changed for a moment. */
export function useDebounced<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
