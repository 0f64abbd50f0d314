import { type FormEvent, type KeyboardEvent, useId } from 'react';
import { outcomeNames, outcomes } from '../../outcomes.ts';
import { productNames } from '../../product-names.ts';
import { type LogField, type LogFields, valuePatterns } from './log-filters.ts';

type Change = (change: Partial<Record<LogField, string | undefined>>) => void;
type Part = Readonly<{ fields: LogFields; change: Change }>;

export const FilterBar = (part: Part) => (
  <search className="filter-bar">
    <TextFilter
      {...part}
      name="search"
      label="Search"
      placeholder="Request ID, signature, code, or message"
      isWide
    />
    <SelectFilter
      {...part}
      name="status"
      label="Outcome"
      options={outcomeNames.map((value) => ({ value, label: outcomes[value].label }))}
    />
    <SelectFilter
      {...part}
      name="product"
      label="Product"
      options={Object.entries(productNames).map(([value, label]) => ({ value, label }))}
    />
    <TextFilter {...part} name="method" label="Method" placeholder="getBalance" />
    <TextFilter {...part} name="code" label="Error code" placeholder="-32602" />
    <TextFilter {...part} name="minMs" label="Minimum latency (ms)" placeholder="250" />
    <TextFilter {...part} name="address" label="IP address" placeholder="203.0.113.7" />
  </search>
);

function SelectFilter({
  fields,
  change,
  name,
  label,
  options,
}: Part & { name: LogField; label: string; options: readonly { value: string; label: string }[] }) {
  const id = useId();
  return (
    <div className="filter-field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="select"
        value={fields[name] ?? ''}
        onChange={(event) => change({ [name]: event.target.value })}
      >
        <option value="">Any</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}

function TextFilter({
  fields,
  change,
  name,
  label,
  placeholder,
  isWide = false,
}: Part & { name: LogField; label: string; placeholder: string; isWide?: boolean }) {
  const id = useId();
  const take = (event: FormEvent<HTMLInputElement>): void => {
    const { value, validity } = event.currentTarget;
    if (validity.valid && value.trim() !== (fields[name] ?? '')) change({ [name]: value.trim() });
  };
  return (
    <div className={isWide ? 'filter-field filter-field-wide' : 'filter-field'}>
      <label htmlFor={id}>{label}</label>
      <input
        // Remounts the input when its value changes elsewhere.
        key={fields[name] ?? ''}
        id={id}
        className="input"
        type={isWide ? 'search' : 'text'}
        autoComplete="off"
        spellCheck={false}
        defaultValue={fields[name] ?? ''}
        placeholder={placeholder}
        pattern={valuePatterns[name]}
        onBlur={take}
        onKeyDown={(event: KeyboardEvent<HTMLInputElement>) => {
          if (event.key === 'Enter') take(event);
        }}
      />
    </div>
  );
}
