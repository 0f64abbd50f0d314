import type { NodeJson } from '../../../../src/control/api/contract/operator.ts';
import { useChange } from '../../queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useToast } from '../../ui/toast.tsx';

/** What is done with a node that is to answer no more. */
export type Leaving = 'drain' | 'remove';

/** Drains a node, or removes one that was added. */
export function LeaveDialog({
  node: { name, network },
  leaving,
  isLast,
  onDone,
}: {
  node: NodeJson;
  leaving: Leaving;
  /** No other node of its network is asked. */
  isLast: boolean;
  onDone: () => void;
}) {
  const say = useToast();
  const drain = useChange('POST /upstreams/{node}/drain');
  const remove = useChange('DELETE /upstreams/{node}');
  const isDrain = leaving === 'drain';
  const change = isDrain ? drain : remove;

  const onConfirm = (): void => {
    const path = { node: name };
    const onSuccess = (): void => {
      say(isDrain ? `${name} is drained.` : `${name} is removed.`);
      onDone();
    };
    if (isDrain) drain.mutate({ path, body: { network, force: isLast } }, { onSuccess });
    else remove.mutate({ path, query: isLast ? { force: 'true' } : {} }, { onSuccess });
  };

  return (
    <ConfirmDialog
      title={isDrain ? `Drain ${name}?` : `Remove ${name}?`}
      action={isDrain ? 'Drain' : 'Remove'}
      problem={change.error}
      isBusy={change.isPending}
      onClose={onDone}
      onConfirm={onConfirm}
    >
      {isDrain
        ? `No gateway puts another call to ${name} of ${network}. Calls under way finish, and subscriptions and streams move to other nodes, until it is uncordoned.`
        : `${name} of ${network} leaves every gateway for good. Calls under way finish, and subscriptions and streams move to other nodes.`}
      {isLast ? ` It is the last node of ${network}: without it no call is answered.` : null}
    </ConfirmDialog>
  );
}
