import { useCall } from '../queries.ts';
import { useChangeSearch, useFrameSearch } from '../range.ts';
import { useSession } from './session.tsx';

const KEYS_LISTED_MAX = 200;

export function KeySwitch() {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const change = useChangeSearch();
  const keys = useCall('GET /customers/{customer}/keys', {
    path: { customer: customer.id },
    query: { limit: KEYS_LISTED_MAX, withRevoked: 'true' },
  });
  const items = keys.data?.items ?? [];
  return (
    <label className="key-switch">
      <span className="visually-hidden">API key</span>
      <select
        className="select"
        value={key ?? ''}
        onChange={(event) => change({ key: event.target.value === '' ? undefined : event.target.value })}
      >
        <option value="">All API keys</option>
        {key === undefined || items.some(({ id }) => id === key) ? null : <option value={key}>{key}</option>}
        {items.map((item) => (
          <option key={item.id} value={item.id}>
            {item.name} · {item.start}
          </option>
        ))}
      </select>
    </label>
  );
}
