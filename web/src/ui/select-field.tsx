import type { ReactNode } from 'react';
import { Field } from './field.tsx';

/** A labeled select. `name` is the field's name in the control API, to match validation errors. */
export function SelectField<Value extends string>({
  label,
  name,
  value,
  options,
  onChange,
  problem,
  hint,
}: {
  label: ReactNode;
  name: string;
  value: Value;
  options: readonly (readonly [value: Value, label: ReactNode])[];
  onChange: (value: Value) => void;
  problem?: unknown;
  hint?: ReactNode;
}) {
  return (
    <Field label={label} name={name} problem={problem} hint={hint}>
      {(field) => (
        <select
          {...field}
          className="select"
          value={value}
          onChange={(event) => onChange(event.target.value as Value)}
        >
          {options.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
