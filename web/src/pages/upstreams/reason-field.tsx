import { Field } from '../../ui/field.tsx';

const REASON_MAX = 200;

/** Why a node is cordoned or drained. */
export const ReasonField = ({
  value,
  problem,
  onChange,
}: {
  value: string;
  problem: unknown;
  onChange: (value: string) => void;
}) => (
  <Field
    label="Reason"
    name="reason"
    optional
    problem={problem}
    hint="Shown next to the node and in the audit log."
  >
    {(field) => (
      <input
        {...field}
        className="input"
        maxLength={REASON_MAX}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
);
