import { Field } from '../../ui/field.tsx';
import { type NodeDraft, optionNames } from './node-draft.ts';

export type TextField = Readonly<{
  /** As refusals name it. */
  name: string;
  of: Exclude<keyof NodeDraft, 'network' | 'headers'>;
  label: string;
  hint: string;
  optional?: boolean;
}>;

/** How a node is reached. */
export const addressFields: readonly TextField[] = [
  { name: 'name', of: 'name', label: 'Name', hint: 'What logs and pages call it. Public.' },
  {
    name: 'url',
    of: 'url',
    label: 'JSON-RPC',
    hint: 'http or https. Kept under a key of the server, and never shown again.',
  },
  {
    name: 'ws',
    of: 'ws',
    label: 'PubSub',
    hint: 'ws or wss; left empty it is derived as clients do. Write off if it has none.',
    optional: true,
  },
  {
    name: 'grpc',
    of: 'grpc',
    label: 'Geyser gRPC',
    hint: 'http or https; left empty it has none.',
    optional: true,
  },
];

/** What it may be asked, and how. */
export const limitFields: readonly TextField[] = [
  {
    name: 'requests_per_second',
    of: optionNames.requests_per_second,
    label: 'Requests a second',
    hint: 'What it may be asked; left empty as much as there is to ask.',
    optional: true,
  },
  {
    name: 'requests_burst',
    of: optionNames.requests_burst,
    label: 'Requests at once',
    hint: 'Left empty as many as in a second.',
    optional: true,
  },
  {
    name: 'pipelining',
    of: optionNames.pipelining,
    label: 'Pipelining',
    hint: 'Reads that may be on their way over one connection, up to 16; left empty one.',
    optional: true,
  },
];

export type DraftProps = Readonly<{
  draft: NodeDraft;
  onChange: (change: Partial<NodeDraft>) => void;
  problem: unknown;
}>;

export function TextFields({
  fields,
  draft,
  onChange,
  problem,
}: DraftProps & { readonly fields: readonly TextField[] }) {
  return fields.map(({ name, of, label, hint, optional = false }) => (
    <Field key={name} label={label} name={name} hint={hint} optional={optional} problem={problem}>
      {(field) => (
        <input
          {...field}
          className="input"
          required={!optional}
          autoComplete="off"
          spellCheck={false}
          value={draft[of]}
          onChange={(event) => onChange({ [of]: event.target.value })}
        />
      )}
    </Field>
  ));
}

export const HeadersField = ({
  draft,
  onChange,
  problem,
  hint = 'One on each line, as in x-token: secret. Kept as the addresses are.',
}: DraftProps & { readonly hint?: string }) => (
  <Field label="Headers" name="headers" hint={hint} optional problem={problem}>
    {(field) => (
      <textarea
        {...field}
        className="input"
        rows={2}
        autoComplete="off"
        spellCheck={false}
        value={draft.headers}
        onChange={(event) => onChange({ headers: event.target.value })}
      />
    )}
  </Field>
);
