import { type FormEvent, useState } from 'react';
import type { NodeJson } from '../../../../src/control/api/contract/operator.ts';
import { capitalized } from '../../format.ts';
import { useChange } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { ReasonField } from './reason-field.tsx';

const stateText = (state: string, reason: string): string =>
  (['cordoned', 'drained'].includes(state) ? `Reason: ${reason}` : capitalized(reason)).replace(/\.$/, '');

const cordonText = (name: string, network: string, isLast: boolean): string =>
  isLast
    ? `${name} cordoned, but still used: no other ${network} node is in service.`
    : `${name} cordoned. It receives no new requests.`;

export function CordonDialog({
  node,
  isLast,
  onDone,
}: {
  node: NodeJson;
  isLast: boolean;
  onDone: () => void;
}) {
  const { name, network } = node;
  const cordoned = node.cordoned || node.drained;
  const verb = cordoned ? 'Uncordon' : 'Cordon';
  const toast = useToast();
  const cordon = useChange('POST /upstreams/{node}/cordon');
  const uncordon = useChange('POST /upstreams/{node}/uncordon');
  const [reason, setReason] = useState('');
  const change = cordoned ? uncordon : cordon;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const onSuccess = (): void => {
      toast(cordoned ? `${name} uncordoned.` : cordonText(name, network, isLast));
      onDone();
    };
    const path = { node: name };
    if (cordoned) uncordon.mutate({ path, body: { network } }, { onSuccess });
    else cordon.mutate({ path, body: { network, reason } }, { onSuccess });
  };

  return (
    <Dialog title={`${verb} ${name}?`} size="s" canClose={!change.isPending} onClose={onDone}>
      <form className="stack" onSubmit={submit}>
        {cordoned ? (
          <p>
            All gateways send requests to {name} ({network}) again within two seconds.
            {node.reason === null ? '' : ` ${stateText(node.state, node.reason)}.`}
          </p>
        ) : (
          <>
            <p>
              {name} ({network}) receives no new requests until you uncordon it. In-flight requests complete.
              If all nodes of a network are cordoned, they are still used.
            </p>
            {isLast ? (
              <p className="banner">
                No other {network} node is in service. This node stays in use until another one is available.
              </p>
            ) : null}
            <ReasonField value={reason} problem={cordon.error} onChange={setReason} />
          </>
        )}
        <FormError problem={change.error} />
        <DialogActions>
          <Button disabled={change.isPending} onClick={onDone}>
            Cancel
          </Button>
          <Button kind={cordoned ? 'primary' : 'danger'} type="submit" busy={change.isPending}>
            {verb}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
