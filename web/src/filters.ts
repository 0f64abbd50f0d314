import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

/** Numbers stay numbers in the URL; digit strings would be quoted. */
const NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,6})?$/;
export const toSearch = (text: string): string | number => (NUMBER.test(text) ? Number(text) : text);

type Fields<Name extends string> = Readonly<Partial<Record<Name, string>>>;
type Change<Name extends string> = Readonly<Partial<Record<Name, string | undefined>>>;

export function useFilters<Name extends string>(
  names: readonly Name[],
): [Fields<Name>, (change: Change<Name>) => void] {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>;
  const navigate = useNavigate();
  const text = JSON.stringify(names.map((name) => textOf(search[name])));
  const fields = useMemo(() => {
    const values = JSON.parse(text) as (string | null)[];
    const pairs = names.flatMap((name, index) => (values[index] == null ? [] : [[name, values[index]]]));
    return Object.fromEntries(pairs) as Fields<Name>;
  }, [names, text]);
  const change = useCallback(
    (changed: Change<Name>) => {
      const next = Object.entries(changed).map(([name, value]) => [
        name,
        value === undefined || value === '' ? undefined : toSearch(String(value)),
      ]);
      void navigate({
        to: '.',
        search: (before) => ({ ...before, ...Object.fromEntries(next) }),
        replace: true,
      });
    },
    [navigate],
  );
  return [fields, change];
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;
