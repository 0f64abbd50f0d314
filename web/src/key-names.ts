import { useCallback, useMemo } from 'react';
import { useCall } from './queries.ts';
import { useSession } from './shell/session.tsx';

/** Same query as the key switch, so that the cache is shared. */
const KEYS_NAMED_MAX = 200;

export function useKeyNames(): (id: string | null) => string {
  const { customer } = useSession();
  const { data } = useCall('GET /customers/{customer}/keys', {
    path: { customer: customer.id },
    query: { limit: KEYS_NAMED_MAX, withRevoked: 'true' },
  });
  const names = useMemo(() => new Map(data?.items.map(({ id, name }) => [id, name])), [data]);
  return useCallback((id) => (id === null ? '–' : (names.get(id) ?? id)), [names]);
}
