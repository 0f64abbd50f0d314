import { type FormEvent, useState } from 'react';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/field.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { incompatibilityOf, isIncompatible } from './is-incompatible.ts';
import { connectionInputOf, emptyDraft, headersProblem, type NodeDraft } from './node-draft.ts';
import { addressFields, type DraftProps, HeadersField, limitFields, TextFields } from './node-fields.tsx';
import { NodeReport } from './node-report.tsx';

export function AddDialog({ onDone }: { onDone: () => void }) {
  const { service } = useSession();
  const toast = useToast();
  const [draft, setDraft] = useState<NodeDraft>(() => emptyDraft(service.network));
  const [fault, setFault] = useState<unknown>(null);
  const test = useChange('POST /upstreams/test');
  const add = useChange('POST /upstreams');

  const problem = incompatibilityOf(fault ?? add.error ?? test.error);

  const change = (more: Partial<NodeDraft>): void => {
    setDraft({ ...draft, ...more });
    setFault(null);
    test.reset();
    add.reset();
  };
  const addIt = (force: boolean): void =>
    add.mutate(
      { body: { ...connectionInputOf(draft), name: draft.name.trim(), force } },
      {
        onSuccess: ({ node, notes }) => {
          toast([`${node.name} added. All gateways use it within two seconds.`, ...notes].join(' '));
          onDone();
        },
      },
    );
  const testIt = (): void => {
    const name = draft.name.trim();
    test.mutate({ body: { ...connectionInputOf(draft), ...(name === '' ? {} : { name }) } });
  };
  const runIfValid = (run: () => void): void => {
    const found = headersProblem(draft);
    setFault(found);
    if (found === null) run();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    runIfValid(() => addIt(false));
  };

  return (
    <Dialog title="Add node" canClose={!add.isPending} onClose={onDone}>
      <form className="stack" onSubmit={submit}>
        <DraftFields draft={draft} onChange={change} problem={problem} />
        {test.data === undefined ? null : <NodeReport report={test.data} />}
        <FormError problem={problem} />
        <DialogActions>
          <Button disabled={add.isPending} onClick={onDone}>
            Cancel
          </Button>
          <Button busy={test.isPending} disabled={draft.url.trim() === ''} onClick={() => runIfValid(testIt)}>
            Test connection
          </Button>
          {isIncompatible(add.error) ? (
            <Button kind="danger" busy={add.isPending} onClick={() => addIt(true)}>
              Add anyway
            </Button>
          ) : (
            <Button kind="primary" type="submit" busy={add.isPending}>
              Add node
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}

function DraftFields({ draft, onChange, problem }: DraftProps) {
  const { networks } = useSession().service;
  return (
    <>
      <SelectField<string>
        label="Network"
        name="network"
        value={draft.network}
        options={networks.map((network) => [network, network])}
        onChange={(network) => onChange({ network })}
        problem={problem}
      />
      <TextFields fields={addressFields} draft={draft} onChange={onChange} problem={problem} />
      <HeadersField draft={draft} onChange={onChange} problem={problem} />
      <TextFields fields={limitFields} draft={draft} onChange={onChange} problem={problem} />
    </>
  );
}
