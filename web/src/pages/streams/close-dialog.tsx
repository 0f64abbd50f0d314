import type { ConnectionJson } from '../../../../src/control/api/contract/logs.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';

export function CloseDialog({ connection, onDone }: { connection: ConnectionJson; onDone: () => void }) {
  const { customer } = useSession();
  const toast = useToast();
  const change = useChange('DELETE /customers/{customer}/connections/{connection}');
  const close = (): void =>
    change.mutate(
      { path: { customer: customer.id, connection: connection.id } },
      {
        onSuccess: () => {
          toast('Connection closed. The client may reconnect.');
          onDone();
        },
      },
    );
  const what = connection.kind === 'websocket' ? 'WebSocket connection' : 'gRPC stream';
  return (
    <Dialog title={`Close ${what}?`} size="s" canClose={!change.isPending} onClose={onDone}>
      <div className="stack">
        <p>
          The connection from <span className="mono">{connection.address}</span> (
          {connection.keyName ?? connection.keyId}) will be closed. The API key stays valid, so most clients
          reconnect. To block a client, disable or revoke its key.
        </p>
        <FormError problem={change.error} />
        <DialogActions>
          <Button disabled={change.isPending} onClick={onDone}>
            Cancel
          </Button>
          <Button kind="danger" busy={change.isPending} onClick={close}>
            Close {what}
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}
