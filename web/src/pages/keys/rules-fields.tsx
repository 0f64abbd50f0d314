import { useState } from 'react';
import type { Product } from '../../product-names.ts';
import { useSession } from '../../shell/session.tsx';
import { Checkbox, Field } from '../../ui/field.tsx';
import type { RulesForm } from './rules-form.ts';

type Props = Readonly<{
  form: RulesForm;
  onChange: (change: Partial<RulesForm>) => void;
  product: Product;
  isPublic: boolean;
  problem: unknown;
}>;

export function RulesFields(props: Props) {
  const { form, onChange, product, isPublic, problem } = props;
  return (
    <div className="rules">
      <NetworkCheckboxes {...props} />
      <LinesField
        {...props}
        name="cidrs"
        label="Allowed IP addresses"
        hint="One CIDR range or IP address per line, such as 192.0.2.0/24 or 2001:db8::/32. Leave empty to allow any."
      />
      {product === 'rpc' ? (
        <LinesField
          {...props}
          name="origins"
          label="Allowed origins"
          optional={!isPublic}
          hint={`One per line, such as https://app.example.com or https://*.example.com. Requests from other origins, or without an Origin header, are rejected.${isPublic ? '' : ' Leave empty to allow any.'}`}
        />
      ) : null}
      <LinesField
        {...props}
        name="methods"
        label="Allowed methods"
        hint="One per line. Wildcards are supported, such as get*. Leave empty to allow all."
      />
      {product === 'rpc' ? <Rates {...props} /> : null}
      <Field
        label="Expires"
        name="expiresAt"
        optional
        problem={problem}
        hint="UTC. Leave empty for no expiration."
      >
        {(field) => (
          <input
            {...field}
            className="input"
            type="datetime-local"
            value={form.expiresAt}
            onChange={(event) => onChange({ expiresAt: event.target.value })}
          />
        )}
      </Field>
      <Checkbox
        checked={form.logsBodies}
        onChange={(logsBodies) => onChange({ logsBodies })}
        hint="Stores truncated parameters and results, with credentials removed. Visible to members with the Developer role or higher."
      >
        Log parameters and results
      </Checkbox>
      {product === 'rpc' ? (
        <Checkbox
          checked={form.neverBack}
          onChange={(neverBack) => onChange({ neverBack })}
          hint="Responses never come from an older slot than previous ones, whichever node serves them. If no node catches up in time, the request is rejected."
        >
          Monotonic reads
        </Checkbox>
      ) : null}
    </div>
  );
}

function NetworkCheckboxes({ form, onChange }: Props) {
  const { service } = useSession();
  const [initial] = useState(form.networks);
  // A key may name a network that the configuration no longer lists.
  const networks = [...new Set([...service.networks, ...initial])];
  return (
    <fieldset className="field">
      <legend className="field-label">
        Allowed networks<span className="field-optional"> optional</span>
      </legend>
      <div className="row">
        {networks.map((network) => (
          <Checkbox
            key={network}
            checked={form.networks.includes(network)}
            onChange={(isOn) =>
              onChange({
                networks: networks.filter((one) => (one === network ? isOn : form.networks.includes(one))),
              })
            }
          >
            {network}
          </Checkbox>
        ))}
      </div>
      <p className="field-hint">Select none to allow all.</p>
    </fieldset>
  );
}

const LinesField = ({
  form,
  onChange,
  problem,
  name,
  label,
  hint,
  optional = true,
}: Props & { name: 'cidrs' | 'origins' | 'methods'; label: string; hint: string; optional?: boolean }) => (
  <Field label={label} name={name} optional={optional} problem={problem} hint={hint}>
    {(field) => (
      <textarea
        {...field}
        className="textarea textarea-short mono"
        rows={2}
        spellCheck={false}
        value={form[name]}
        onChange={(event) => onChange({ [name]: event.target.value })}
      />
    )}
  </Field>
);

const NumberField = ({
  form,
  onChange,
  problem,
  name,
  field: fieldName,
  label,
  hint,
}: Omit<Props, 'product' | 'isPublic'> & {
  name: 'perSecond' | 'burst' | 'addressPerSecond';
  field: string;
  label: string;
  hint: string;
}) => (
  <Field label={label} name={fieldName} optional problem={problem} hint={hint}>
    {(field) => (
      <input
        {...field}
        className="input"
        type="number"
        min={1}
        inputMode="numeric"
        value={form[name]}
        onChange={(event) => onChange({ [name]: event.target.value })}
      />
    )}
  </Field>
);

const Rates = (props: Props) => (
  <div className="fields-row">
    <NumberField
      {...props}
      name="perSecond"
      field="rate.perSecond"
      label="Requests per second"
      hint="Leave empty for the plan’s limit."
    />
    <NumberField
      {...props}
      name="burst"
      field="rate.burst"
      label="Burst"
      hint="Leave empty for twice the rate."
    />
    <NumberField
      {...props}
      name="addressPerSecond"
      field="addressPerSecond"
      label="Requests per second per IP address"
      hint="Leave empty for no separate limit."
    />
  </div>
);
