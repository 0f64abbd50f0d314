import { type FormEvent, useState } from 'react';
import { formatTime } from '../format.ts';
import { type RangeName, rangeNames, useChangeSearch, useRange } from '../range.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';

const titles: Readonly<Record<RangeName, string>> = {
  '15m': '15 min',
  '1h': '1 h',
  '24h': '24 h',
  '7d': '7 d',
  '30d': '30 d',
  custom: 'Custom',
};

export function RangePicker() {
  const range = useRange();
  const change = useChangeSearch();
  const [isCustomOpen, setIsCustomOpen] = useState(false);

  return (
    <>
      <fieldset className="choice">
        <legend className="visually-hidden">Time range</legend>
        {rangeNames.map((name) =>
          name === 'custom' ? (
            <button
              key={name}
              type="button"
              aria-pressed={range.name === name}
              className="choice-button"
              onClick={() => setIsCustomOpen(true)}
            >
              {titles[name]}
            </button>
          ) : (
            <label key={name} className="choice-option">
              <input
                type="radio"
                name="range"
                checked={range.name === name}
                onChange={() => change({ range: name, from: undefined, to: undefined })}
              />
              <span>{titles[name]}</span>
            </label>
          ),
        )}
      </fieldset>
      {isCustomOpen ? (
        <CustomRange
          initial={range.bounds()}
          onClose={() => setIsCustomOpen(false)}
          onChoose={(from, to) => {
            setIsCustomOpen(false);
            change({ range: 'custom', from, to });
          }}
        />
      ) : null}
    </>
  );
}

const toInput = (at: number): string => formatTime(at).replace(' ', 'T').slice(0, 16);
const fromInput = (text: string): number => Date.parse(`${text}Z`);

function CustomRange({
  initial,
  onClose,
  onChoose,
}: {
  initial: { from: number; to: number };
  onClose: () => void;
  onChoose: (from: number, to: number) => void;
}) {
  const [from, setFrom] = useState(toInput(initial.from));
  const [to, setTo] = useState(toInput(initial.to));
  const fits = fromInput(from) < fromInput(to);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (fits) onChoose(fromInput(from), fromInput(to));
  };

  return (
    <Dialog title="Custom time range" size="s" onClose={onClose}>
      <form onSubmit={submit} className="stack">
        <Field label="From" name="from" hint="All times are in UTC.">
          {(field) => (
            <input
              {...field}
              className="input"
              type="datetime-local"
              required
              value={from}
              onChange={(event) => setFrom(event.target.value)}
            />
          )}
        </Field>
        <Field label="To" name="to">
          {(field) => (
            <input
              {...field}
              className="input"
              type="datetime-local"
              required
              value={to}
              onChange={(event) => setTo(event.target.value)}
            />
          )}
        </Field>
        {fits ? null : <p className="field-fault">The start must be before the end.</p>}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!fits}>
            Apply{' '}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
