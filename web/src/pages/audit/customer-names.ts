import { useCallback, useMemo } from 'react';
import { useCall } from '../../queries.ts';

/** Same query as the customer list in the settings, so that the cache is shared. */
const CUSTOMERS_NAMED_MAX = 200;

/** @param enabled - only operators may list customers. */
export function useCustomerNames(enabled: boolean): (id: string | null) => string {
  const { data } = useCall('GET /customers', { query: { limit: CUSTOMERS_NAMED_MAX } }, { enabled });
  const names = useMemo(() => new Map(data?.items.map(({ id, name }) => [id, name])), [data]);
  return useCallback((id) => (id === null ? '–' : (names.get(id) ?? id)), [names]);
}
