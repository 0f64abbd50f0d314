import { Field, Tick } from '../../ui/field.tsx';
import type { Product } from './key-labels.ts';
import type { RulesForm } from './rules-form.ts';

const networks = ['mainnet-beta', 'devnet', 'testnet'];

type Props = Readonly<{
  form: RulesForm;
  onChange: (change: Partial<RulesForm>) => void;
  product: Product;
  problem: unknown;
}>;

/** What a key may be used for. Empty fields are no rule. */
export function RulesFields(props: Props) {
  const { form, onChange, product, problem } = props;
  return (
    <div className="rules">
      <NetworkTicks {...props} />
      <Lines
        {...props}
        name="cidrs"
        label="Addresses"
        hint="One a line: 192.0.2.0/24, 2001:db8::/32 or one address. Empty: from anywhere."
      />
      {product === 'rpc' ? (
        <Lines
          {...props}
          name="origins"
          label="Origins"
          hint="Web pages that may use it, such as https://app.example.com or https://*.example.com. Others, and programs that send none, are refused."
        />
      ) : null}
      <Lines
        {...props}
        name="methods"
        label="Methods"
        hint="Such as getBalance, or get* for all that begin so."
      />
      {product === 'rpc' ? <Rates {...props} /> : null}
      <Field label="Expires" name="expiresAt" optional problem={problem} hint="In UTC.">
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
      <Tick
        checked={form.logsBodies}
        onChange={(logsBodies) => onChange({ logsBodies })}
        hint="The first bytes of each, without credentials, for who may open single requests."
      >
        Keep parameters and results in the request log
      </Tick>
      {product === 'rpc' ? (
        <Tick
          checked={form.neverBack}
          onChange={(neverBack) => onChange({ neverBack })}
          hint="No read is of an older slot than the one before, whichever node answers. One that waits for that longer than a moment is refused."
        >
          Reads never go back
        </Tick>
      ) : null}
    </div>
  );
}

function NetworkTicks({ form, onChange }: Props) {
  return (
    <fieldset className="field">
      <legend className="field-label">
        Networks<span className="field-optional"> optional</span>
      </legend>
      <div className="row">
        {networks.map((network) => (
          <Tick
            key={network}
            checked={form.networks.includes(network)}
            onChange={(isOn) =>
              onChange({
                networks: networks.filter((one) => (one === network ? isOn : form.networks.includes(one))),
              })
            }
          >
            {network}
          </Tick>
        ))}
      </div>
      <p className="field-hint">None ticked: all of them.</p>
    </fieldset>
  );
}

const Lines = ({
  form,
  onChange,
  problem,
  name,
  label,
  hint,
}: Props & { name: 'cidrs' | 'origins' | 'methods'; label: string; hint: string }) => (
  <Field label={label} name={name} optional problem={problem} hint={hint}>
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

const Amount = ({
  form,
  onChange,
  problem,
  name,
  field: fieldName,
  label,
  hint,
}: Omit<Props, 'product'> & {
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
    <Amount
      {...props}
      name="perSecond"
      field="rate.perSecond"
      label="Calls a second"
      hint="Empty: the plan's."
    />
    <Amount {...props} name="burst" field="rate.burst" label="At once" hint="Empty: twice as many." />
    <Amount
      {...props}
      name="addressPerSecond"
      field="addressPerSecond"
      label="From one address"
      hint="A second. Empty: as the key."
    />
  </div>
);
