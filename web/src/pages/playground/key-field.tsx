import { useState } from 'react';
import { keyIdOf, secretOf } from '../../key-secrets.ts';
import { useCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Field } from '../../ui/field.tsx';

const KEYS_MAX = 1_000;
const PASTE = 'paste';

export function KeyField({ secret, onChange }: { secret: string; onChange: (secret: string) => void }) {
  const { customer } = useSession();
  const keys = useCall('GET /customers/{customer}/keys', {
    path: { customer: customer.id },
    query: { product: 'rpc', limit: KEYS_MAX },
  });
  const availableKeys = (keys.data?.items ?? []).filter(({ id }) => secretOf(id) !== null);
  const [choice, setChoice] = useState(PASTE);
  const id = keyIdOf(secret);

  return (
    <>
      {availableKeys.length === 0 ? null : (
        <Field label="API key" name="known">
          {(field) => (
            <select
              {...field}
              className="select"
              value={choice}
              onChange={(event) => {
                setChoice(event.target.value);
                onChange(secretOf(event.target.value) ?? '');
              }}
            >
              <option value={PASTE}>Paste a key…</option>
              {availableKeys.map((key) => (
                <option key={key.id} value={key.id}>
                  {key.name} · {key.start}…
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {choice === PASTE ? (
        <Field
          label="Your API key"
          name="secret"
          hint={
            secret !== '' && id === null
              ? 'This does not look like a complete API key.'
              : 'An RPC key. It stays in memory until you leave or reload this page and is never stored.'
          }
        >
          {(field) => (
            <input
              {...field}
              className="input mono"
              type="password"
              autoComplete="off"
              placeholder="svc_rpc_live_…"
              value={secret}
              onChange={(event) => onChange(event.target.value.trim())}
            />
          )}
        </Field>
      ) : null}
    </>
  );
}
