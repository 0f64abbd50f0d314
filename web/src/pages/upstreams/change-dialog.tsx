import { type FormEvent, useState } from 'react';
import { useChange } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { incompatibilityOf, isIncompatible } from './is-incompatible.ts';
import { type AddedNodeJson, draftOf, headersProblem, type NodeDraft, nodeUpdateOf } from './node-draft.ts';
import { addressFields, HeadersField, limitFields, type TextField, TextFields } from './node-fields.tsx';

const hints: Readonly<Record<string, string>> = {
  url: 'Leave empty to keep the current value.',
  ws: 'Leave empty to keep the current value. Enter “off” to disable.',
  grpc: 'Leave empty to keep the current value. Enter “off” to disable.',
};

/** URLs are never returned, so empty fields keep their values. */
const optionalFields: readonly TextField[] = addressFields
  .filter(({ name }) => Object.hasOwn(hints, name))
  .map((field) => ({ ...field, hint: hints[field.name] ?? field.hint, optional: true }));

export function ChangeDialog({ node, onDone }: { node: AddedNodeJson; onDone: () => void }) {
  const { name, network } = node;
  const toast = useToast();
  const [draft, setDraft] = useState<NodeDraft>(() => draftOf(node));
  const [fault, setFault] = useState<unknown>(null);
  const change = useChange('PATCH /upstreams/{node}');

  const edit = (more: Partial<NodeDraft>): void => {
    setDraft({ ...draft, ...more });
    setFault(null);
    change.reset();
  };
  const changeIt = (force: boolean): void =>
    change.mutate(
      { path: { node: name }, body: { ...nodeUpdateOf(draft), force } },
      {
        onSuccess: ({ notes }) => {
          toast([`${name} updated. All gateways apply the change within two seconds.`, ...notes].join(' '));
          onDone();
        },
      },
    );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const found = headersProblem(draft);
    setFault(found);
    if (found === null) changeIt(false);
  };
  const problem = incompatibilityOf(fault ?? change.error);
  const fields = { draft, onChange: edit, problem };

  return (
    <Dialog title={`Edit ${name} (${network})`} canClose={!change.isPending} onClose={onDone}>
      <form className="stack" onSubmit={submit}>
        <TextFields fields={optionalFields} {...fields} />
        <HeadersField
          {...fields}
          hint="One name: value per line. Replaces all headers. Leave empty to keep the current ones."
        />
        <TextFields fields={limitFields} {...fields} />
        <FormError problem={problem} />
        <DialogActions>
          <Button disabled={change.isPending} onClick={onDone}>
            Cancel
          </Button>
          {isIncompatible(change.error) ? (
            <Button kind="danger" busy={change.isPending} onClick={() => changeIt(true)}>
              Save anyway
            </Button>
          ) : (
            <Button kind="primary" type="submit" busy={change.isPending}>
              Save changes
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}
