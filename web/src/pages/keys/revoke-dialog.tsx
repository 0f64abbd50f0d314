import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useToast } from '../../ui/toast.tsx';

export function RevokeDialog({ targets, onClose }: { targets: readonly KeyJson[]; onClose: () => void }) {
  const { customer } = useSession();
  const toast = useToast();
  const revoke = useChange('POST /customers/{customer}/keys/revoke');
  const [first] = targets;
  const confirmation = targets.length === 1 && first !== undefined ? first.name : `revoke ${targets.length}`;

  const confirm = (): void =>
    revoke.mutate(
      { path: { customer: customer.id }, body: { ids: targets.map(({ id }) => id) } },
      {
        onSuccess: () => {
          toast(targets.length === 1 ? `“${confirmation}” revoked.` : `${targets.length} keys revoked.`);
          onClose();
        },
      },
    );

  return (
    <ConfirmDialog
      title={targets.length === 1 ? `Revoke “${confirmation}”?` : `Revoke ${targets.length} keys?`}
      action="Revoke"
      choice={
        targets.length > 1 ? (
          <ul className="consequences">
            {targets.map(({ id, name, start }) => (
              <li key={id}>
                {name} <span className="muted mono">{start}…</span>
              </li>
            ))}
          </ul>
        ) : null
      }
      toType={confirmation}
      problem={revoke.error}
      isBusy={revoke.isPending}
      onClose={onClose}
      onConfirm={confirm}
    >
      This cannot be undone. Requests are rejected within a second, and open WebSocket connections and gRPC
      streams are closed. To replace a key without downtime, rotate it instead.
    </ConfirmDialog>
  );
}
