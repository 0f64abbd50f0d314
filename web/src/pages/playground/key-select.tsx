import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useKeySearch } from '../../key-id.ts';
import type { Product } from '../../product-names.ts';
import { useCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Field } from '../../ui/field.tsx';
import { SelectField } from '../../ui/select-field.tsx';

const KEYS_LISTED_MAX = 200;

/** Chooses one of the customer's valid keys by name; the first, unless `chosen` is one of them. */
export function KeySelect({
  product,
  chosen,
  onChoose,
}: {
  product: Product;
  chosen: string | null;
  onChoose: (key: string | null) => void;
}) {
  const { customer, can } = useSession();
  const [text, setText] = useState('');
  const search = useKeySearch(text);
  const keys = useCall('GET /customers/{customer}/keys', {
    path: { customer: customer.id },
    query: { product, limit: KEYS_LISTED_MAX, sort: 'name', search },
  });
  const valid = (keys.data?.items ?? []).filter(({ state }) => state === 'active' || state === 'rotating');
  const current = valid.find(({ id }) => id === chosen)?.id ?? valid[0]?.id ?? null;
  const isLoaded = keys.data !== undefined;
  useEffect(() => {
    if (isLoaded && current !== chosen) onChoose(current);
  }, [isLoaded, current, chosen, onChoose]);

  if (!can('developer')) return <p className="muted">Your role does not allow sending requests.</p>;
  if (keys.data === undefined) return null;
  if (valid.length === 0 && search === '')
    return (
      <p>
        There is no active API key for this interface. <Link to="/keys">Create an API key</Link>
      </p>
    );
  return (
    <>
      {keys.data.next === null && search === '' ? null : (
        <Field label="Search API keys" name="search">
          {(field) => (
            <input
              {...field}
              className="input"
              type="search"
              maxLength={64}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
      )}
      <SelectField<string>
        label="API key"
        name="key"
        value={current ?? ''}
        options={valid.map(({ id, name, start }) => [id, `${name} · ${start}…`])}
        onChange={onChoose}
        hint="Requests count toward this key’s usage and are subject to its rules and limits."
      />
    </>
  );
}
