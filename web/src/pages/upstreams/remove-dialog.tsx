import { useState } from 'react';
import type { NodeJson } from '../../../../src/control/api/contract/operator.ts';
import { ApiProblem } from '../../api.ts';
import { useChange } from '../../queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useToast } from '../../ui/toast.tsx';
import { ReasonField } from './reason-field.tsx';

export type NodeRemoval = 'drain' | 'remove';

export function RemoveDialog({
  node: { name, network },
  removal,
  isLast,
  isLastGeyser,
  onDone,
}: {
  node: NodeJson;
  removal: NodeRemoval;
  isLast: boolean;
  isLastGeyser: boolean;
  onDone: () => void;
}) {
  const toast = useToast();
  const drain = useChange('POST /upstreams/{node}/drain');
  const remove = useChange('DELETE /upstreams/{node}');
  const [reason, setReason] = useState('');
  const isDrain = removal === 'drain';
  const change = isDrain ? drain : remove;
  // The service may know of a change that this page does not yet show.
  const force = isLast || isLastGeyser || isRefused(change.error);
  const effect = `In-flight requests complete; subscriptions and streams ${isLast ? 'end' : 'move to other nodes'}.`;

  const onConfirm = (): void => {
    const path = { node: name };
    const onSuccess = (): void => {
      toast(isDrain ? `${name} drained.` : `${name} removed.`);
      onDone();
    };
    if (isDrain) drain.mutate({ path, body: { network, reason, force } }, { onSuccess });
    else remove.mutate({ path, query: force ? { force: 'true' } : {} }, { onSuccess });
  };

  return (
    <ConfirmDialog
      title={isDrain ? `Drain ${name}?` : `Remove ${name}?`}
      action={isDrain ? 'Drain' : 'Remove'}
      choice={isDrain ? <ReasonField value={reason} problem={drain.error} onChange={setReason} /> : null}
      toType={force ? name : null}
      problem={change.error}
      isBusy={change.isPending}
      onClose={onDone}
      onConfirm={onConfirm}
    >
      {isDrain
        ? `${name} (${network}) receives no new requests until you uncordon it. ${effect}`
        : `${name} (${network}) is permanently removed from all gateways. ${effect}`}
      {isLast ? ` This is the last ready ${network} node. Without it, all ${network} requests fail.` : null}
      {isLastGeyser && !isLast
        ? ` This is the last ready ${network} node with Geyser. Its gRPC streams end and fall back to PubSub and blocks, with less data.`
        : null}
    </ConfirmDialog>
  );
}

const isRefused = (problem: unknown): boolean =>
  problem instanceof ApiProblem && (problem.code === 'LAST_NODE' || problem.code === 'LAST_GEYSER_NODE');
