import { type ReactNode, useId } from 'react';
import { ApiProblem } from '../api.ts';

type Attributes = Readonly<{ id: string; 'aria-describedby'?: string; 'aria-invalid'?: true; name: string }>;

type FieldProps = Readonly<{
  label: ReactNode;
  /** Field name in the control API, to match validation errors. */
  name: string;
  hint?: ReactNode;
  problem?: unknown;
  optional?: boolean;
  children: (attributes: Attributes) => ReactNode;
}>;

/** Matches list items by index too: `cidrs.0`. */
export function problemOfField(problem: unknown, name: string): string | undefined {
  if (!(problem instanceof ApiProblem)) return undefined;
  const [, text] =
    Object.entries(problem.fields).find(([field]) => field === name || field.startsWith(`${name}.`)) ?? [];
  return text;
}

export function Field({ label, name, hint, problem, optional = false, children }: FieldProps) {
  const id = useId();
  const fault = problemOfField(problem, name);
  const described = [hint === undefined ? '' : `${id}-hint`, fault === undefined ? '' : `${id}-fault`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className="field">
      <label htmlFor={id} className="field-label">
        {label}
        {optional ? <span className="field-optional"> optional</span> : null}
      </label>
      {children({
        id,
        name,
        ...(described === '' ? {} : { 'aria-describedby': described }),
        ...(fault === undefined ? {} : { 'aria-invalid': true }),
      })}
      {hint === undefined ? null : (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {fault === undefined ? null : (
        <p className="field-fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

export function Checkbox({
  checked,
  onChange,
  children,
  hint,
  disabled = false,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
  hint?: ReactNode;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="tick">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{children}</label>
      {hint === undefined ? null : (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function FormError({ problem }: { problem: unknown }) {
  if (problem === null || problem === undefined) return null;
  const text = problem instanceof Error ? problem.message : 'This page failed to load. Reload to try again.';
  return (
    <p className="fault" role="alert">
      {text}
    </p>
  );
}
