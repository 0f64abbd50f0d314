import { useState } from 'react';
import { useKeySearch } from '../key-id.ts';
import { useCall } from '../queries.ts';
import { useChangeSearch, useFrameSearch } from '../range.ts';
import { SearchSelect } from '../ui/search-select.tsx';
import { useSession } from './session.tsx';

const KEYS_LISTED_MAX = 50;

/** Chooses among the keys by a search of the service, because there may be thousands. */
export function KeySwitch() {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const change = useChangeSearch();
  const [text, setText] = useState('');
  const search = useKeySearch(text);
  const path = { customer: customer.id };
  const keys = useCall(
    'GET /customers/{customer}/keys',
    {
      path,
      query: { limit: KEYS_LISTED_MAX, withRevoked: 'true', sort: 'name', search },
    },
    { keepPrevious: true },
  );
  const chosen = useCall(
    'GET /customers/{customer}/keys/{key}',
    { path: { ...path, key: key ?? '' } },
    { enabled: key !== undefined, retries: false },
  );
  return (
    <SearchSelect
      label="API key"
      all="All API keys"
      chosen={key === undefined ? null : { id: key, name: chosen.data?.key.name ?? key }}
      options={(keys.data?.items ?? []).map(({ id, name, start }) => ({ id, name, note: `${start}…` }))}
      hasMore={keys.data?.next != null}
      onSearch={setText}
      onChoose={(id) => change({ key: id ?? undefined })}
    />
  );
}
