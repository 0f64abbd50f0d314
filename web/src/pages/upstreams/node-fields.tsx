import { Field } from '../../ui/field.tsx';
import { type NodeDraft, optionNames } from './node-draft.ts';

export type TextField = Readonly<{
  name: string;
  of: Exclude<keyof NodeDraft, 'network' | 'headers'>;
  label: string;
  hint: string;
  optional?: boolean;
}>;

export const addressFields: readonly TextField[] = [
  { name: 'name', of: 'name', label: 'Name', hint: 'Shown in logs and the dashboard. Not secret.' },
  {
    name: 'url',
    of: 'url',
    label: 'JSON-RPC URL',
    hint: 'http or https URL. Stored encrypted and never shown again.',
  },
  {
    name: 'ws',
    of: 'ws',
    label: 'PubSub URL',
    hint: 'ws or wss URL. Leave empty to derive it from the JSON-RPC URL. Enter “off” if it has none.',
    optional: true,
  },
  {
    name: 'grpc',
    of: 'grpc',
    label: 'Geyser gRPC URL',
    hint: 'http or https URL. Leave empty if the node has none.',
    optional: true,
  },
];

export const limitFields: readonly TextField[] = [
  {
    name: 'requests_per_second',
    of: optionNames.requests_per_second,
    label: 'Requests per second',
    hint: 'Leave empty for no limit.',
    optional: true,
  },
  {
    name: 'requests_burst',
    of: optionNames.requests_burst,
    label: 'Burst',
    hint: 'Leave empty to use the limit per second.',
    optional: true,
  },
  {
    name: 'priority',
    of: optionNames.priority,
    label: 'Priority',
    hint: 'Nodes with a higher number are used only when no node with a lower number can respond. Default: 1.',
    optional: true,
  },
  {
    name: 'weight',
    of: optionNames.weight,
    label: 'Weight',
    hint: 'Share of calls among nodes of the same priority. Default: 1.',
    optional: true,
  },
  {
    name: 'methods',
    of: optionNames.methods,
    label: 'Methods',
    hint: 'Only nodes that list a method serve it, such as getBlock, getToken*. Add * to serve all others too.',
    optional: true,
  },
  {
    name: 'archive',
    of: optionNames.archive,
    label: 'Full ledger history',
    hint: 'yes or no. Leave empty to detect it.',
    optional: true,
  },
  {
    name: 'indexes',
    of: optionNames.indexes,
    label: 'Account indexes',
    hint: 'program-id, spl-token-owner, spl-token-mint. Leave empty to detect them.',
    optional: true,
  },
  {
    name: 'region',
    of: optionNames.region,
    label: 'Region',
    hint: 'Gateways prefer nodes of their own region.',
    optional: true,
  },
  {
    name: 'pipelining',
    of: optionNames.pipelining,
    label: 'Pipelining',
    hint: 'Concurrent reads per connection: 1 to 16, or auto. Default: auto.',
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
  hint = 'One name: value per line, such as x-token: secret. Stored encrypted.',
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
