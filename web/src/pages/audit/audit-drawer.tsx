import { Dialog } from '../../ui/dialog.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Time } from '../../ui/time.tsx';
import { type AuditEntry, actionNameOf, actorOf } from './audit-entry.ts';

const nameWithId = (name: string | null, id: string): string => (name === null ? id : `${name} (${id})`);

export function AuditDrawer({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { name, kind } = actorOf(entry.actor);
  return (
    <Dialog title={actionNameOf(entry.action)} size="drawer" onClose={onClose}>
      <div className="stack">
        <dl className="facts">
          <dt>Time (UTC)</dt>
          <dd>
            <Time at={entry.at} withMs />
          </dd>
          <dt>Actor</dt>
          <dd>
            {name}
            {kind === null ? '' : ` (${kind})`}
          </dd>
          {entry.customerId === null ? null : (
            <>
              <dt>Customer</dt>
              <dd>{nameWithId(entry.customerName, entry.customerId)}</dd>
            </>
          )}
          <dt>API key</dt>
          <dd>{entry.keyId === null ? '–' : nameWithId(entry.keyName, entry.keyId)}</dd>
          <dt>IP address</dt>
          <dd className="mono">{entry.address ?? '–'}</dd>
          <dt>User agent</dt>
          <dd>{entry.userAgent ?? '–'}</dd>
          <dt>Request ID</dt>
          <dd className="mono">{entry.requestId ?? '–'}</dd>
          <dt>Event ID</dt>
          <dd className="mono">{entry.id}</dd>
        </dl>
        <Snippet text={JSON.stringify(entry.detail, null, 2)} label="details" />
      </div>
    </Dialog>
  );
}
