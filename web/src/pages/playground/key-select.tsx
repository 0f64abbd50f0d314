import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Product } from '../../product-names.ts';
import { useCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Field } from '../../ui/field.tsx';

const KEYS_MAX = 1_000;

/** Chooses one of the customer's valid keys by name; the first, unless `chosen` is one of them. */
export function KeySelect({
  products,
  chosen,
  onChoose,
}: {
  products: readonly Product[];
  chosen: string | null;
  onChoose: (key: string | null) => void;
}) {
  const { customer, can } = useSession();
  const keys = useCall('GET /customers/{customer}/keys', {
    path: { customer: customer.id },
    query: { limit: KEYS_MAX },
  });
  const valid = (keys.data?.items ?? []).filter(
    ({ state, product }) => (state === 'active' || state === 'rotating') && products.includes(product),
  );
  const current = valid.find(({ id }) => id === chosen)?.id ?? valid[0]?.id ?? null;
  useEffect(() => {
    if (current !== chosen) onChoose(current);
  }, [current, chosen, onChoose]);

  if (!can('developer')) return <p className="muted">Your role can view this page but not send requests.</p>;
  if (keys.data === undefined) return null;
  if (valid.length === 0)
    return (
      <p>
        There is no active API key for this interface. <Link to="/keys">Create an API key</Link>
      </p>
    );
  return (
    <Field label="API key" name="key" hint="Requests count against this key and obey its rules and limits.">
      {(field) => (
        <select
          {...field}
          className="select"
          value={current ?? ''}
          onChange={(event) => onChoose(event.target.value)}
        >
          {valid.map((key) => (
            <option key={key.id} value={key.id}>
              {key.name} · {key.start}…
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
