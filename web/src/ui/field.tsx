import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { ApiProblem } from '../api.ts';
import { capitalized } from '../format.ts';
import { scrollIntoDialog } from './dialog.tsx';

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
const isOfField = (path: string, name: string): boolean => path === name || path.startsWith(`${name}.`);

/** Returns a sentence; the API's texts, such as `must have …`, follow the name of a field. */
export function problemOfField(problem: unknown, name: string): string | undefined {
  if (!(problem instanceof ApiProblem)) return undefined;
  const [, text] = Object.entries(problem.fields).find(([path]) => isOfField(path, name)) ?? [];
  return text === undefined ? undefined : capitalized(/[.!?]$/.test(text) ? text : `${text}.`);
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

/** Number of invalid fields; 0 unless the form around `element` shows an error next to each of them. */
function highlightedFields(element: HTMLElement | null, problem: unknown): number {
  const paths = problem instanceof ApiProblem ? Object.keys(problem.fields) : [];
  const marked = [...(element?.closest('form')?.querySelectorAll('[aria-invalid]') ?? [])];
  const names = marked.map((field) => field.getAttribute('name') ?? '');
  const areAllShown = paths.every((path) => names.some((name) => isOfField(path, name)));
  return paths.length > 0 && areAllShown ? names.length : 0;
}

export function FormError({ problem }: { problem: unknown }) {
  const box = useRef<HTMLParagraphElement>(null);
  const [highlighted, setHighlighted] = useState(0);
  // Without dependencies: a form with several steps changes its fields.
  useLayoutEffect(() => setHighlighted(highlightedFields(box.current, problem)));
  const text = problem instanceof Error ? problem.message : 'This page failed to load. Reload to try again.';
  // biome-ignore lint/correctness/useExhaustiveDependencies: a problem can be a new object after each render
  useEffect(() => {
    if (highlightedFields(box.current, problem) === 0) scrollIntoDialog(box.current);
  }, [text]);
  if (problem === null || problem === undefined) return null;
  return (
    <p ref={box} className="fault" role="alert">
      {highlighted === 0 ? text : `Fix the highlighted ${highlighted === 1 ? 'field' : 'fields'}.`}
    </p>
  );
}
