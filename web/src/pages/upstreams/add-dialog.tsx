import { type FormEvent, useState } from 'react';
import { ApiProblem } from '../../api.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Fault, Field } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { emptyDraft, type NodeDraft, networks, optionNames, reachedBy } from './node-draft.ts';
import { NodeReport } from './node-report.tsx';

const isNotFit = (problem: unknown): boolean =>
  problem instanceof ApiProblem && problem.code === 'NODE_NOT_FIT';

/** Adds a node to every gateway; it is tested before, and taken all the same on purpose only. */
export function AddDialog({ onDone }: { onDone: () => void }) {
  const { service } = useSession();
  const say = useToast();
  const [draft, setDraft] = useState<NodeDraft>(() => emptyDraft(service.network));
  const test = useChange('POST /upstreams/test');
  const add = useChange('POST /upstreams');

  const change = (more: Partial<NodeDraft>): void => {
    setDraft({ ...draft, ...more });
    test.reset();
    add.reset();
  };
  const addIt = (force: boolean): void =>
    add.mutate(
      { body: { ...reachedBy(draft), name: draft.name.trim(), force } },
      {
        onSuccess: ({ node, notes }) => {
          say([`${node.name} is added: every gateway takes it up within two seconds.`, ...notes].join(' '));
          onDone();
        },
      },
    );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    addIt(false);
  };

  return (
    <Dialog title="Add a node" onClose={onDone}>
      <form className="stack" onSubmit={submit}>
        <DraftFields draft={draft} onChange={change} problem={add.error ?? test.error} />
        {test.data === undefined ? null : <NodeReport report={test.data} />}
        <Fault problem={add.error ?? test.error} />
        <DialogActions>
          <Button onClick={onDone}>Cancel</Button>
          <Button
            busy={test.isPending}
            disabled={draft.url.trim() === ''}
            onClick={() => test.mutate({ body: reachedBy(draft) })}
          >
            Test
          </Button>
          {isNotFit(add.error) ? (
            <Button kind="danger" busy={add.isPending} onClick={() => addIt(true)}>
              Add it all the same
            </Button>
          ) : (
            <Button kind="primary" type="submit" busy={add.isPending}>
              Add the node
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}

type TextField = Readonly<{
  /** As refusals name it. */
  name: string;
  of: Exclude<keyof NodeDraft, 'network' | 'headers'>;
  label: string;
  hint: string;
  optional?: boolean;
}>;

const places: readonly TextField[] = [
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

const limits: readonly TextField[] = [
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

type DraftProps = Readonly<{
  draft: NodeDraft;
  onChange: (change: Partial<NodeDraft>) => void;
  problem: unknown;
}>;

function TextFields({
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

function DraftFields({ draft, onChange, problem }: DraftProps) {
  return (
    <>
      <Field label="Network" name="network" problem={problem}>
        {(field) => (
          <select
            {...field}
            className="select"
            value={draft.network}
            onChange={(event) => onChange({ network: event.target.value })}
          >
            {networks.map((network) => (
              <option key={network}>{network}</option>
            ))}
          </select>
        )}
      </Field>
      <TextFields fields={places} draft={draft} onChange={onChange} problem={problem} />
      <Field
        label="Headers"
        name="headers"
        hint="One on each line, as in x-token: secret. Kept as the addresses are."
        optional
        problem={problem}
      >
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
      <TextFields fields={limits} draft={draft} onChange={onChange} problem={problem} />
    </>
  );
}
