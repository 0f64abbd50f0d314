import type { HTMLInputAutoCompleteAttribute, HTMLInputTypeAttribute, ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';

export const TextInput = ({
  label,
  name,
  value,
  onChange,
  problem,
  hint,
  type = 'text',
  autoComplete = 'off',
  isFirst = false,
  disabled = false,
}: {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
  problem?: unknown;
  hint?: ReactNode;
  type?: HTMLInputTypeAttribute;
  autoComplete?: HTMLInputAutoCompleteAttribute;
  isFirst?: boolean;
  disabled?: boolean;
}) => (
  <Field label={label} name={name} problem={problem} hint={hint}>
    {(field) => (
      <input
        {...field}
        className="input"
        type={type}
        required
        disabled={disabled}
        // biome-ignore lint/a11y/noAutofocus: first field of a form-only page
        autoFocus={isFirst}
        autoComplete={autoComplete}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
);
